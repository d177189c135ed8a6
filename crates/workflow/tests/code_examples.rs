//! The examples of `runner explain` and docs/codes.md: each produces its code, and no longer does once it is fixed.

use contract::Contract;
use workflow::{CODES, Code, Report};

use crate::gate;

/// Codes whose examples would be too large, or that only a bug produces.
const WITHOUT_FILE: &[&str] = &[
    "bad-cast",
    "bad-description",
    "bad-group",
    "file-too-large",
    "invalid-plan",
    "media-too-large",
    "needs-ffmpeg",
    "not-utf8",
    "other-encoding",
    "too-many",
];

/// The example with its fix applied to the first file; `None` if the lines to remove are not in it.
fn fixed(example: &Code) -> Option<Code> {
    let mut fixed = example.clone();
    let mut text = fixed.files[0].1.to_owned();
    let mut hunk = (String::new(), String::new());
    for line in example.fix.lines().chain(std::iter::once("-")) {
        let content = || format!("{}\n", line.get(2..).unwrap_or_default());
        if line.starts_with('+') {
            hunk.1.push_str(&content());
            continue;
        }
        if !hunk.1.is_empty() || line == "-" {
            let start = text.find(&hunk.0)?;
            text.replace_range(start..start + hunk.0.len(), &hunk.1);
            hunk = (String::new(), String::new());
        }
        hunk.0.push_str(&content());
    }
    // The examples of the program are static.
    fixed.files[0].1 = text.leak();
    Some(fixed)
}

fn codes(report: &Report) -> Vec<&'static str> {
    report.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn examples_produce_their_codes_until_they_are_fixed() {
    let (gate, contract) = (gate::media_gate(), Contract::embedded());
    for example in CODES.iter() {
        let code = example.name;
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
        let fixed = fixed(example).unwrap_or_else(|| panic!("the fix of `{code}` is not in its file"));
        let fixed = fixed.report(gate, contract).unwrap();
        assert!(fixed.diagnostics.is_empty(), "{code}\n{fixed}");
    }
    assert!(CODES.len() > 90 && Code::find("no-such-code").is_none());
}
