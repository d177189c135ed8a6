//! Price tables: parsing, problems, and the cost of a plan.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

use contract::Contract;
use workflow::plan::{Node, Plan};
use workflow::prices::{self, CostEstimate, EstimateKind, PriceInputs, Prices};
use workflow::units::VideoDuration;
use workflow::{InMemory, Options, load};

const TABLE: &str = "version: 1
currency: EUR
as_of: 2026-01-31
source: a test
prices:
  - {model: modela-video-2-0-260128, resolution: 480p, per_second: 0.1}
  - {model: modela-video-2-0-260128, resolution: 720p, per_second: \"0.2\"}
  - {model: modela-video-2-0-260128, resolution: 1080p, per_second: 0.4, per_task: 1}
  - {model: modela-video-2-0-260128, resolution: 480p, sound: true, per_second: .15}
  - {model: modelb-video-480p, per_task: 0.333333}
";

fn table(text: &str) -> Prices {
    let checked = prices::check(text.as_bytes(), "prices.yaml", &[Contract::embedded()]);
    assert!(checked.report.diagnostics.is_empty(), "{}", checked.report);
    checked.prices.unwrap()
}

fn plan(shots: &str) -> Plan {
    let text = format!("version: 1\nname: p\ndefaults: {{model: modela-video-2-0-260128}}\nshots:\n{shots}");
    load(text.as_bytes(), "p.yaml", &InMemory::default(), &Options::default(), Contract::embedded())
        .unwrap_or_else(|report| panic!("{report}"))
}

fn cost(prices: &Prices, node: &Node) -> Result<String, String> {
    let billing = PriceInputs::clone(&node.price);
    match prices.estimate(&billing) {
        Ok(cost) => Ok(cost.to_string()),
        Err(unpriced) => Err(unpriced.to_string()),
    }
}

#[test]
fn most_specific_price_applies() {
    let plan = plan(
        "  - {id: plain, prompt: p, resolution: 480p, seconds: 5}
  - {id: sound, prompt: p, resolution: 480p, seconds: 5, generate_audio: true}
  - {id: fee, prompt: p, resolution: 1080p, seconds: 10}
  - {id: any-length, prompt: p, resolution: 480p}
  - {id: any-size, prompt: p, seconds: 5}
  - {id: by-task, model: modelb-video-480p, prompt: p}
  - {id: fraction, prompt: p, resolution: 480p, duration: 4.5}
  - {id: nothing, model: modelb-video-720p, prompt: p}
",
    );
    let prices = table(TABLE);
    let costs: Vec<_> = plan.nodes().map(|(_, node)| (node.name.as_str(), cost(&prices, node))).collect();
    let ok = |text: &str| Ok(text.to_owned());
    assert_eq!(
        costs,
        [
            ("plain", ok("0.50")),
            ("sound", ok("0.75")),
            ("fee", ok("5.00")),
            ("any-length", ok("0.40 to 1.50")),
            ("any-size", ok("0.50 to 3.00")),
            ("by-task", ok("0.333333")),
            ("fraction", ok("0.45")),
            ("nothing", Err("no price for `modelb-video-720p` at 720p with sound".to_owned())),
        ]
    );
}

#[test]
fn unstated_resolution_priced_only_if_all_are() {
    let prices = table(
        "version: 1\ncurrency: EUR\nas_of: 2026-01-31\nsource: a test\nprices:\n  \
         - {model: modela-video-2-0-260128, resolution: 480p, per_second: 0.1}\n",
    );
    let plan = plan("  - {id: a, prompt: p, seconds: 5}\n");
    let (_, node) = plan.nodes().next().unwrap();
    assert_eq!(
        cost(&prices, node),
        Err("no price for `modela-video-2-0-260128` at 720p without sound".to_owned())
    );
}

#[test]
fn actual_cost_uses_length_of_video() {
    let prices = table(TABLE);
    let plan = plan(
        "  - {id: open, prompt: p, resolution: 480p}\n  - {id: stated, prompt: p, resolution: 480p, seconds: 5}\n",
    );
    let actual_costs: Vec<String> = plan
        .nodes()
        .map(|(_, node)| PriceInputs::clone(&node.price))
        .map(|billing| prices.actual_cost(&billing, VideoDuration::from_secs_f64(6.04)).unwrap().to_string())
        .collect();
    assert_eq!(actual_costs, ["0.60", "0.50"]);
}

#[test]
fn estimate_is_exact_and_counts_unpriced_separately() {
    let prices = table(TABLE);
    let plan = plan(
        "  - {id: tenths, prompt: p, resolution: 480p, seconds: 7, takes: 10}
  - {id: open, prompt: p, resolution: 480p}
  - {id: free, model: modelb-video-720p, prompt: p, seconds: 3}
",
    );
    let mut forecast = CostEstimate::default();
    for (_, node) in plan.nodes() {
        let billing = PriceInputs::clone(&node.price);
        let chance = if &*node.shot == "open" { EstimateKind::Possible } else { EstimateKind::Certain };
        forecast.add(&billing, prices.estimate(&billing).ok(), chance);
    }
    insta::assert_json_snapshot!(forecast);
    let json = serde_json::to_string(&forecast).unwrap();
    assert_eq!(serde_json::from_str::<CostEstimate>(&json).unwrap(), forecast);
}

#[test]
fn price_table_reports_all_problems() {
    let text = "version: 2
currency: dollars
as_of: 2026-02-30
sauce: hearsay
prices:
  - {model: modela-video-2-0-260128, resolution: 480p, per_second: 5e-2}
  - {model: modela-video-2-0-260128, resolution: 4k, per_second: -1}
  - {model: modela-video-2-0, per_second: 0.1}
  - {model: modelb-video-480p, per_secnd: 0.1}
  - {resolution: 480p, per_task: 1}
  - {model: modelb-video-720p, sound: loud, per_task: 0.0000001}
  - {model: modelb-video-720p, resolution: 720p, per_task: 1}
  - {model: modelb-video-720p, sound: true, per_task: 99999999}
  - free
";
    let checked = prices::check(text.as_bytes(), "prices.yaml", &[Contract::embedded()]);
    assert!(checked.prices.is_none());
    insta::assert_snapshot!(checked.report.render(false));
    for text in ["", "- a", "a: [", "prices: {}", "version: 1\nprices: 3\n"] {
        let checked = prices::check(text.as_bytes(), "prices.yaml", &[Contract::embedded()]);
        assert!(checked.prices.is_none() && checked.report.errors() > 0, "{text}");
    }
}

#[test]
fn example_table_prices_all_models() {
    let text = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../workflows/prices.yaml")).unwrap();
    let prices = table(std::str::from_utf8(&text).unwrap());
    assert!(prices.source().contains("placeholder"));
    let request =
        |id: &str| format!("  - {{id: a, model: {id}, prompt: p, image: \"https://x.example/a.png\"}}\n");
    for model in Contract::embedded().models() {
        let plan = plan(&request(&model.id));
        let (_, node) = plan.nodes().next().unwrap();
        assert!(cost(&prices, node).is_ok(), "{}", model.id);
    }
}
