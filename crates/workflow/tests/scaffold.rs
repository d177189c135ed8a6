//! Scaffolded workflows and imported shot lists pass the check and reproduce their source.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

use std::fmt::Write as _;

use contract::Contract;
use proptest::prelude::*;
use workflow::import::{self, Imported};
use workflow::plan::Plan;
use workflow::scaffold::{PictureOptions, WorkflowKind, scaffold};
use workflow::{InMemory, Options};

fn picture(family: &str, aspect: &str) -> PictureOptions {
    PictureOptions { family: family.to_owned(), model: None, aspect: aspect.to_owned() }
}

/// The plan of a text that may not even be warned about.
#[track_caller]
fn plan(text: &str) -> Plan {
    let checked = workflow::check(
        text.as_bytes(),
        "new.yaml",
        &InMemory::default(),
        &Options::default(),
        Contract::embedded(),
    );
    assert!(checked.report.diagnostics.is_empty(), "{}\n{text}", checked.report);
    checked.plan.unwrap()
}

fn imported(list: &str, chain_scenes: bool) -> Imported {
    let options = import::Options { name: "list".to_owned(), picture: picture("a", "16:9"), chain_scenes };
    import::import(list.as_bytes(), "shots.csv", &options, Contract::embedded()).unwrap()
}

#[test]
fn scaffold_is_valid_with_requested_shots() {
    for kind in [WorkflowKind::Storyboard, WorkflowKind::Chain, WorkflowKind::Sweep] {
        for (family, aspect) in
            [("a", "16:9"), ("A", "9:16"), ("b", "16:9"), ("B", "9:16"), ("b", "1:1"), ("b", "21:9")]
        {
            for shots in [1, 2, 7, 12] {
                let text =
                    scaffold(kind, "first", shots, &picture(family, aspect), Contract::embedded()).unwrap();
                let plan = plan(&text);
                assert_eq!(plan.len(), shots, "{text}");
                assert_eq!(plan.films().is_empty(), kind == WorkflowKind::Sweep);
                assert_eq!(plan.edges().count(), if kind == WorkflowKind::Chain { shots - 1 } else { 0 });
            }
        }
    }
}

#[test]
fn scaffold_text() {
    let of =
        |kind, family| scaffold(kind, "first", 4, &picture(family, "16:9"), Contract::embedded()).unwrap();
    insta::assert_snapshot!("workflow_storyboard", of(WorkflowKind::Storyboard, "a"));
    insta::assert_snapshot!("workflow_chain", of(WorkflowKind::Chain, "b"));
    insta::assert_snapshot!("workflow_sweep", of(WorkflowKind::Sweep, "a"));
}

#[test]
fn scaffold_rejects_unsupported_options() {
    let refused = |picture: &PictureOptions, shots| {
        scaffold(WorkflowKind::Chain, "x", shots, picture, Contract::embedded()).unwrap_err().to_string()
    };
    let preview =
        PictureOptions { model: Some("modelb-video-1.5-preview-480p".to_owned()), ..picture("b", "16:9") };
    let unknown = PictureOptions { model: Some("modelb-video-48p".to_owned()), ..picture("b", "16:9") };
    insta::assert_snapshot!(
        [
            refused(&picture("c", "16:9"), 1),
            refused(&picture("a", "adaptive"), 1),
            refused(&picture("b", "wide"), 1),
            refused(&preview, 1),
            refused(&unknown, 1),
            refused(&picture("a", "16:9"), 0),
            refused(&picture("a", "16:9"), 101),
        ]
        .join("\n")
    );
}

const LIST: &str = "\u{feff}Scene #;Shot;Shot size;Angle;Camera movement;Lens;Description;Dialogue;Duration;Location;Status\r
1;A;WS;Low;slow push in;35mm;A stone breakwater at dusk;;5s;Harbour;ok\r
;B;CU;;;;\"A hand on a rail; it shakes\";\"\"\"Not yet.\"\"\";0:05;Harbour;\r
;;MS;;handheld;;the keeper turns {{ to }} {% us %};;5;;\r
2;A;ECU;;;85;an eye;;2.5;;\"see: note #3\"\r
2;A;;;;;again an eye;;30;;\r
";

#[test]
fn import_shot_list_makes_workflow() {
    let imported = imported(LIST, true);
    insta::assert_snapshot!("import_report", imported.report.render(false));
    let text = imported.workflow.unwrap();
    insta::assert_snapshot!("import_workflow", text);
    let plan = plan(&text);
    assert_eq!((plan.len(), imported.shots), (5, 5));
    assert_eq!(plan.edges().count(), 3);
    let third = plan.nodes().nth(2).unwrap().1;
    assert_eq!(third.request["prompt"], "Medium shot. The keeper turns {{ to }} {% us %}. Handheld.");
}

#[test]
fn import_reports_problems_with_spans() {
    let wrong = "scene,shot,description,duration,action\n1,A,the sea,soon,x\n";
    insta::assert_snapshot!("import_two_columns", imported(wrong, false).report.render(false));
    let wrong = "scene,shot,description,duration,who\n1,A,the sea,soon,x\n1,B,,,y\n1,C,sea,4,z,too much\n";
    let found = imported(wrong, false);
    assert!(found.workflow.is_none());
    insta::assert_snapshot!("import_rows", found.report.render(false));
    for (list, code) in [
        ("", "empty-file"),
        ("a,b\n1,2\n", "bad-table"),
        ("description\n", "no-shots"),
        ("description\n\"the sea\n", "bad-table"),
    ] {
        let found = imported(list, false);
        assert!(found.workflow.is_none());
        assert_eq!(found.report.diagnostics[0].code, code, "{list:?}");
    }
    let bytes = import::import(
        b"description\n\xff\xfe",
        "shots.csv",
        &import::Options { name: "list".to_owned(), picture: picture("a", "16:9"), chain_scenes: false },
        Contract::embedded(),
    );
    assert_eq!(bytes.unwrap().report.diagnostics[0].code, "not-utf8");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn import_arbitrary_cells_reach_requests(
        rows in proptest::collection::vec(("[^\"]*", "[^\"]{1,300}", "[^\"]*", "[^\"]*"), 1..4)
    ) {
        let mut list = String::from("scene,description,status,dialogue\n");
        let mut wanted = Vec::new();
        for (scene, description, status, dialogue) in &rows {
            let words = |text: &str| text.split(|c: char| c.is_whitespace() || c.is_control())
                .filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            prop_assume!(!words(description).is_empty());
            writeln!(list, "\"{scene}\",\"x{description}\",\"{status}\",\"{dialogue}\"").unwrap();
            wanted.push((format!("X{}", words(&format!("x{description}")).strip_prefix('x').unwrap_or_default()), words(status)));
        }
        let imported = imported(&list, true);
        let text = imported.workflow.unwrap_or_else(|| panic!("{}", imported.report));
        let plan = plan(&text);
        for ((_, node), (prompt, note)) in plan.nodes().zip(wanted) {
            let sent = node.request["prompt"].as_str().unwrap();
            prop_assert!(sent.starts_with(&prompt), "{sent:?} {prompt:?}");
            let kept = node.note.as_deref().unwrap_or_default().to_owned();
            prop_assert_eq!(kept, if note.is_empty() { String::new() } else { format!("status: {note}") });
        }
    }
}
