//! From any bytes to a plan or a report. Parts after zero bytes are the files that the workflow may name and what the caller gives:
//! an included file, a table, a file of parameters, a parameter, an axis.
#![no_main]

use std::sync::LazyLock;

use contract::Contract;
use libfuzzer_sys::fuzz_target;
use workflow::plan::Plan;
use workflow::{InMemory, Options, ParamFile, check};

static CONTRACT: LazyLock<&'static Contract> = LazyLock::new(Contract::embedded);

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.split(|byte| *byte == 0);
    // The first part as it came: what is no UTF-8 is to be refused, not mended.
    let file = parts.next().unwrap_or_default();
    let mut text = || parts.next().map(|part| String::from_utf8_lossy(part).into_owned());
    let (included, table, values, param, axis) = (text(), text(), text(), text(), text());
    let files = InMemory::default()
        .with("stills/keeper.png", *b"\x89PNG\r\n\x1a\n")
        .with("a.yaml", included.unwrap_or_default())
        .with("b.yaml", "include: a.yaml\nparams: {b: 1}\n")
        .with("t.csv", table.unwrap_or_else(|| "name,seed\nMara,1\nTom,2\n".to_owned()));
    let options = Options {
        params: param.map(|value| ("look".to_owned(), value)).into_iter().collect(),
        param_files: values.map(|text| ParamFile { name: "values.yaml".to_owned(), text }).into_iter().collect(),
        axes: axis.map(|values| ("look".to_owned(), values)).into_iter().collect(),
        picks: [("lamp".to_owned(), 2)].into(),
        allow_outside: false,
    };
    let checked = check(file, "any.yaml", &files, &options, &CONTRACT);
    let shown = checked.report.render(true);
    for record in checked.report.to_json() {
        assert!(record.line > 0 && record.column > 0 && !record.message.is_empty());
    }
    match &checked.plan {
        None => assert!(checked.report.errors() > 0 && !shown.is_empty()),
        Some(plan) => holds_together(plan),
    }
});

/// Each node is found under its name, and what comes before it has the longer way to go.
fn holds_together(plan: &Plan) {
    for (ix, node) in plan.nodes().take(1_000) {
        assert_eq!(plan.find(&node.name), Some(ix));
        assert!(plan.predecessors(ix).iter().all(|before| plan.rank(*before) >= plan.rank(ix)));
    }
}
