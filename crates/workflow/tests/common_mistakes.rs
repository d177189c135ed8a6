//! The first mistakes of a person, or of a language model, that writes a workflow: each file of `common_mistakes` and what is reported of it.
//! These messages are the best that we have: each has one problem, at the right place, with what to write.

use crate::check::{check_file, fixtures, folder, snapshot};

#[test]
fn common_mistakes_are_reported_with_what_to_write() {
    for (name, path) in fixtures(&folder("tests/common_mistakes")) {
        let report = check_file(&path).report;
        assert!(!report.diagnostics.is_empty(), "{name} is taken for right");
        snapshot("common_mistakes", &name, &report.render(false));
    }
}
