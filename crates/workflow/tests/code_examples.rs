//! The examples of `runner explain-code` and docs/codes.md: each produces its code, and no longer does once it is fixed.

use contract::Contract;
use workflow::{CODES, Report, code_example};

use crate::gate;

/// Codes whose examples would be too large, or that only a bug produces.
const WITHOUT_FILE: &[&str] = &[
    "bad-cast",
    "bad-group",
    "bad-screenplay",
    "file-too-large",
    "invalid-plan",
    "media-too-large",
    "needs-ffmpeg",
    "not-utf8",
    "other-encoding",
    "too-many",
    "unread-characters",
];

fn codes(report: &Report) -> Vec<&'static str> {
    report.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn examples_produce_their_codes_until_they_are_fixed() {
    let (gate, contract) = (gate::media_gate(), Contract::embedded());
    for (code, _) in CODES {
        let example = code_example(code).unwrap_or_else(|| panic!("`{code}` has no example"));
        assert!(!example.help.is_empty() && !example.help.contains("  "), "{code}");
        let Some(report) = example.report(gate, contract) else {
            assert!(WITHOUT_FILE.contains(&code), "the example of `{code}` has no file");
            continue;
        };
        assert!(!WITHOUT_FILE.contains(&code), "`{code}` has an example");
        assert!(codes(&report).contains(&code), "{code}\n{report}");
        // A value that is refused may be refused for two reasons.
        assert!(report.diagnostics.len() <= 2, "{code}\n{report}");
        if example.fix.is_empty() {
            assert!(!example.arguments.is_empty(), "`{code}` is fixed in its file or in its arguments");
            continue;
        }
        let fixed = example.fixed_report(gate, contract);
        let fixed = fixed.unwrap_or_else(|| panic!("the fix of `{code}` is not in its file"));
        assert!(fixed.diagnostics.is_empty(), "{code}\n{fixed}");
    }
    assert_eq!(code_example("no-such-code"), None);
}
