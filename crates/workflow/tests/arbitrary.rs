//! Property test: arbitrary bytes give a plan or diagnostics; the plan can be serialized and the diagnostics displayed.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

use contract::Contract;
use proptest::prelude::*;
use workflow::{InMemory, Options, load};

fn survives(bytes: &[u8]) {
    let options = Options { params: vec![("look".to_owned(), "{{ x".to_owned())], ..Options::default() };
    match load(bytes, "any.yaml", &InMemory::default(), &options, Contract::embedded()) {
        Ok(plan) => {
            let stored = serde_json::to_string(&plan).unwrap();
            let back: workflow::plan::Plan = serde_json::from_str(&stored).unwrap();
            assert_eq!(serde_json::to_string(&back).unwrap(), stored);
        }
        Err(report) => {
            assert!(report.errors() > 0);
            assert!(!report.render(true).is_empty());
            for record in report.to_json() {
                assert!(record.line > 0 && record.column > 0 && !record.message.is_empty());
                // What the parser says leads nobody on.
                assert!(record.code != "yaml-syntax" || record.help.is_some(), "{}", record.message);
            }
        }
    }
}

const SEEDS: [&str; 5] = [
    include_str!("../../../workflows/storyboard.yaml"),
    include_str!("../../../workflows/sweep.yaml"),
    include_str!("../../../workflows/families.yaml"),
    include_str!("valid/language.yaml"),
    include_str!("valid/frames.yaml"),
];

/// Pieces that change what a file means.
const PIECES: [&str; 29] = [
    "{{",
    "}}",
    "{%",
    "%}",
    "&a ",
    "*a",
    "<<: ",
    "- ",
    ": ",
    "\"",
    "'",
    "\t",
    "\n",
    "[",
    "]",
    "{",
    "}",
    "|\n",
    "#",
    "~",
    "continues: ",
    "takes: 3\n",
    "\u{feff}",
    "\u{1f3ac}",
    // Spaces of several bytes, and what looks like an indicator.
    "\u{a0}",
    "\u{3000}",
    "\u{2028}",
    "\u{85}",
    "\u{ff1a}",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn check_arbitrary_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survives(&bytes);
    }

    #[test]
    fn check_arbitrary_yaml_does_not_panic(text in "([a-z]{1,3}: ?|- |  |\n|\"|'|\\{\\{|\\}\\}|\\[|\\]|\\{|\\}|&a |\\*a|,|[0-9]|é|\\||>){0,80}") {
        survives(text.as_bytes());
    }

    #[test]
    fn check_mutated_examples_does_not_panic(
        which in 0..SEEDS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize, 0..PIECES.len()), 1..5),
    ) {
        let mut bytes = SEEDS[which].as_bytes().to_vec();
        for (position, cut, piece) in changes {
            let position = position.index(bytes.len());
            let end = (position + cut).min(bytes.len());
            bytes.splice(position..end, PIECES[piece].bytes());
        }
        survives(&bytes);
    }
}
