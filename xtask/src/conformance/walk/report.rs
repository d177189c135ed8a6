//! Verdicts by statement.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};

use super::statements::{Cite, Statement, find};

const PASS: &str = "pass";
const FAIL: &str = "FAIL";
const UNTESTED: &str = "not testable";

/// The statements of the document with the verdicts of their cases.
pub(super) struct Report {
    statements: Vec<Statement>,
    /// By the index of the statement: the verdict, and what was sent or looked at.
    rows: BTreeMap<usize, Vec<(&'static str, String)>>,
    /// Citations that mean no statement.
    stale: BTreeSet<String>,
}

impl Report {
    pub(super) fn new(statements: Vec<Statement>) -> Self {
        Self { statements, rows: BTreeMap::new(), stale: BTreeSet::new() }
    }

    /// Records a case: what was sent, whether what has to come of it did, and what did instead.
    pub(super) fn check(&mut self, cite: Cite<'_>, sent: impl Display, is_met: bool, found: impl Display) {
        if is_met {
            self.push(cite, PASS, sent.to_string());
        } else {
            self.push(cite, FAIL, format!("{sent}\n                  found: {found}"));
        }
    }

    /// Records that a statement cannot be tested from outside.
    pub(super) fn untested(&mut self, cite: Cite<'_>, reason: &str) {
        self.push(cite, UNTESTED, reason.to_owned());
    }

    fn push(&mut self, cite: Cite<'_>, verdict: &'static str, text: String) {
        match find(&self.statements, cite) {
            Ok(statement) => self.rows.entry(statement).or_default().push((verdict, text)),
            Err(problem) => drop(self.stale.insert(problem)),
        }
    }

    /// The listing; an error if a case failed, a statement has no case or a citation is stale.
    pub(super) fn finish(self) -> Result<String, String> {
        let mut text = String::new();
        let mut counts = BTreeMap::from([(PASS, 0), (FAIL, self.stale.len()), (UNTESTED, 0)]);
        let none = vec![(FAIL, "the walk has no case for this statement".to_owned())];
        for (index, statement) in self.statements.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{} {}", statement.section, statement.text);
            for (verdict, sent) in self.rows.get(&index).unwrap_or(&none) {
                *counts.entry(verdict).or_default() += 1;
                let _ = writeln!(text, "    {verdict:<14}{sent}");
            }
        }
        for problem in &self.stale {
            let _ = writeln!(text, "{FAIL} {problem}");
        }
        let _ = write!(
            text,
            "{} statements: {} cases pass, {} fail, {} are not testable from outside",
            self.statements.len(),
            counts[PASS],
            counts[FAIL],
            counts[UNTESTED]
        );
        if counts[FAIL] == 0 { Ok(text) } else { Err(text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let statement = |text: &str| Statement { section: "1".to_owned(), text: text.to_owned() };
        Report::new(vec![statement("a holds."), statement("b holds.")])
    }

    #[test]
    fn a_statement_without_a_case_fails() {
        let mut report = report();
        report.check(("1", "a holds"), "GET /a", true, "");
        let text = report.finish().unwrap_err();
        assert!(
            text.contains("FAIL          the walk has no case")
                && text.ends_with("1 cases pass, 1 fail, 0 are not testable from outside"),
            "{text}"
        );
    }

    #[test]
    fn failures_and_stale_citations_fail() {
        let mut report = report();
        report.check(("1", "a holds"), "GET /a", true, "");
        report.check(("1", "a holds"), "GET /b", false, "404");
        report.untested(("1", "b holds"), "it has no consequence");
        report.check(("1", "c holds"), "GET /c", true, "");
        let text = report.finish().unwrap_err();
        assert!(text.contains("found: 404") && text.contains("no statement with `c holds`"), "{text}");
        assert!(text.ends_with("1 cases pass, 2 fail, 1 are not testable from outside"), "{text}");
    }
}
