//! Each request is checked, however much the instances of a shot share: random sweeps against a plain check of every request, written by
//! hand.

use contract::Contract;
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Map, Value, json};
use workflow::{InMemory, Options, load};

/// Fields with values that are right, wrong, or right beside some others only.
fn candidates() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("seconds", vec![json!("5"), json!("15"), json!("5"), json!("16"), json!(null)]),
        ("duration", vec![json!(null), json!(null), json!(4)]),
        ("resolution", vec![json!("480p"), json!("720p"), json!("4k")]),
        ("ratio", vec![json!("16:9"), json!("1:1"), json!(null)]),
        ("seed", vec![json!(0), json!(1), json!(1), json!(-1), json!(1.5)]),
        ("watermark", vec![json!(true), json!(false), json!("no")]),
        ("user", vec![json!("a"), json!("b"), json!("still.png")]),
        (
            "metadata",
            vec![json!({}), json!({"seed": 7}), json!({"x": [1, {"y": null}]}), json!({"duration": 5})],
        ),
    ]
}

/// Values of an axis: for some sweeps only valid ones, so that many pass.
fn axes() -> impl Strategy<Value = Vec<(&'static str, Vec<Value>)>> {
    (subsequence(candidates(), 0..=4), any::<bool>(), 1..5_usize).prop_map(|(fields, sound, max_fields)| {
        let keep = if sound { max_fields.min(2) } else { max_fields };
        fields.into_iter().map(|(name, values)| (name, values.into_iter().take(keep).collect())).collect()
    })
}

fn cells(axes: &[(&'static str, Vec<Value>)]) -> Vec<Map<String, Value>> {
    axes.iter().fold(vec![Map::new()], |cells, (axis, values)| {
        let longer = |cell: &Map<String, Value>, value: &Value| {
            let mut cell = cell.clone();
            cell.insert((*axis).to_owned(), value.clone());
            cell
        };
        cells
            .iter()
            .flat_map(|cell| values.iter().map(|value| longer(cell, value)).collect::<Vec<_>>())
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plan_exists_iff_every_request_is_accepted(axes in axes(), chained in any::<bool>(), literal in any::<bool>()) {
        let contract = Contract::embedded();
        let mut file = json!({
            "version": 1,
            "name": "any",
            "defaults": {"model": "modela-video-2-0-260128", "prompt": "take {{ take }}"},
            "shots": [{"id": "a", "takes": 2, "pick": 1}],
        });
        let shot = &mut file["shots"][0];
        if literal {
            shot["watermark"] = json!(true);
        }
        for (axis, values) in &axes {
            shot["matrix"][axis] = json!(values);
            shot[axis] = json!(format!("{{{{ {axis} }}}}"));
        }
        if chained {
            file["shots"].as_array_mut().unwrap().push(json!({"id": "b", "continues": "a"}));
        }

        let mut expected = Vec::new();
        for cell in cells(&axes) {
            for take in 1..=2 {
                let mut request = Map::from_iter([
                    ("model".to_owned(), json!("modela-video-2-0-260128")),
                    ("prompt".to_owned(), json!(format!("take {take}"))),
                ]);
                if literal {
                    request.insert("watermark".to_owned(), json!(true));
                }
                request.extend(cell.clone());
                request.retain(|_, value| !value.is_null());
                if chained {
                    request.insert("return_last_frame".to_owned(), json!(true));
                }
                expected.push(Value::Object(request));
            }
        }
        let names_a_file = |request: &Value| request.get("user") == Some(&json!("still.png"));
        let sound = expected.iter().all(|request| contract.check_request(request).is_empty() && !names_a_file(request));

        let outcome = load(file.to_string().as_bytes(), "any.yaml", &InMemory::default(), &Options::default(), contract);
        match outcome {
            Ok(plan) => {
                prop_assert!(sound, "{file}");
                let nodes_of_a = plan.nodes().map(|(_, node)| node).filter(|node| &*node.shot == "a");
                let made: Vec<Value> = nodes_of_a.map(|node| Value::Object(node.request.to_map())).collect();
                prop_assert_eq!(&made, &expected);
                for (_, node) in plan.nodes() {
                    let values: Vec<String> = node.inputs.iter().map(|_| "https://x.example/a.png".to_owned()).collect();
                    prop_assert_eq!(contract.check_request(&node.complete(&values)), []);
                }
                // Shared values are stored whole.
                let stored = serde_json::to_value(&plan).unwrap();
                prop_assert_eq!(&stored["nodes"][0]["request"], &expected[0]);
            }
            Err(report) => prop_assert!(!sound, "{}\n{}", report, file),
        }
    }
}
