//! Fuzz target: compiles arbitrary bytes to a plan or a report. The input is split at zero bytes: the workflow, an included file, a CSV table,
//! a parameter file, a parameter, an axis.
//!
//! An input that begins with 0xff is a list of choices: a small file that asks for much is made of them. After 0xfe, the next byte is
//! the number of a file that was found to be expensive.
#![no_main]

#[path = "../../crates/workflow/tests/expensive/mod.rs"]
mod expensive;

use std::sync::LazyLock;

use contract::Contract;
use expensive::{Choices, Expensive};
use libfuzzer_sys::fuzz_target;
use workflow::plan::Plan;
use workflow::{InMemory, Options, ParamFile, check};

static CONTRACT: LazyLock<&'static Contract> = LazyLock::new(Contract::embedded);

fuzz_target!(|bytes: &[u8]| {
    match bytes {
        [0xff, choices @ ..] => return compile_expensive(&expensive::random(&mut Choices::new(choices), 1)),
        [0xfe, number, ..] => {
            let workflows = expensive::listed(1);
            return compile_expensive(&workflows[usize::from(*number) % workflows.len()]);
        }
        _ => {}
    }
    let mut parts = bytes.split(|byte| *byte == 0);
    // Not converted: invalid UTF-8 has to be rejected.
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
        picks: workflow::Picks {
            takes: [("lamp".to_owned(), 2)].into(),
            cells: [("look".to_owned(), ["seed=1".to_owned()].into())].into(),
        },
    };
    let outcome = check(file, "any.yaml", &files, &options, &CONTRACT);
    let rendered = outcome.report.render(true);
    for record in outcome.report.to_json() {
        assert!(record.line > 0 && record.column > 0 && !record.message.is_empty());
    }
    match &outcome.plan {
        None => assert!(outcome.report.errors() > 0 && !rendered.is_empty()),
        Some(plan) => assert_consistent(plan),
    }
});

/// libFuzzer bounds time and memory.
fn compile_expensive(file: &Expensive) {
    let files = InMemory::default().with("t.csv", file.table.clone());
    let outcome = check(file.workflow.as_bytes(), &file.name, &files, &Options::default(), &CONTRACT);
    assert!(!outcome.report.render(true).is_empty() || outcome.plan.is_some());
}

/// Nodes are found by their names, and a predecessor's rank is not less than the node's.
fn assert_consistent(plan: &Plan) {
    for (ix, node) in plan.nodes().take(1_000) {
        assert_eq!(plan.find(&node.name), Some(ix));
        assert!(plan.predecessors(ix).iter().all(|predecessor| plan.rank(*predecessor) >= plan.rank(ix)));
    }
}
