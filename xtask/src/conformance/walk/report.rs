//! Verdicts by statement.

use std::fmt::Write as _;

use super::statements::{Cite, Statement, find};

/// What came of one case.
enum Verdict {
    Pass,
    Fail(String),
    /// With the reason.
    NotTestable(String),
}

struct Row {
    statement: usize,
    /// What was sent or looked at.
    sent: String,
    verdict: Verdict,
}

/// The statements of the document with the rows of their cases.
pub(super) struct Report {
    statements: Vec<Statement>,
    rows: Vec<Row>,
    /// Citations that mean no statement.
    stale: Vec<String>,
}

impl Report {
    pub(super) fn new(statements: Vec<Statement>) -> Self {
        Self { statements, rows: Vec::new(), stale: Vec::new() }
    }

    /// Records a case: `Err` has what was found instead.
    pub(super) fn record(&mut self, cite: Cite, sent: impl Into<String>, outcome: Result<(), String>) {
        let verdict = match outcome {
            Ok(()) => Verdict::Pass,
            Err(problem) => Verdict::Fail(problem),
        };
        self.push(cite, sent.into(), verdict);
    }

    /// Records that a statement cannot be tested from outside.
    pub(super) fn not_testable(&mut self, cite: Cite, reason: &str) {
        self.push(cite, String::new(), Verdict::NotTestable(reason.to_owned()));
    }

    fn push(&mut self, cite: Cite, sent: String, verdict: Verdict) {
        match find(&self.statements, cite) {
            Ok(statement) => self.rows.push(Row { statement, sent, verdict }),
            Err(problem) => self.stale.push(problem),
        }
    }

    /// The listing; an error if a case failed, a statement has no case or a citation is stale.
    pub(super) fn finish(mut self) -> Result<String, String> {
        let (mut text, mut passed, mut failed, mut untested) = (String::new(), 0, 0, 0);
        for (index, statement) in self.statements.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{} {}", statement.section, statement.text);
            let mut rows = self.rows.iter().filter(|row| row.statement == index).peekable();
            if rows.peek().is_none() {
                failed += 1;
                let _ = writeln!(text, "    FAIL          the walk has no case for this statement");
            }
            for row in rows {
                let _ = match &row.verdict {
                    Verdict::Pass => {
                        passed += 1;
                        writeln!(text, "    pass          {}", row.sent)
                    }
                    Verdict::Fail(problem) => {
                        failed += 1;
                        writeln!(text, "    FAIL          {}\n                  found: {problem}", row.sent)
                    }
                    Verdict::NotTestable(reason) => {
                        untested += 1;
                        writeln!(text, "    not testable  {reason}")
                    }
                };
            }
        }
        self.stale.dedup();
        for problem in &self.stale {
            failed += 1;
            let _ = writeln!(text, "FAIL {problem}");
        }
        let _ = write!(
            text,
            "{} statements: {passed} cases pass, {failed} fail, {untested} are not testable from outside",
            self.statements.len()
        );
        if failed == 0 { Ok(text) } else { Err(text) }
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
        report.record(("1", "a holds"), "GET /a", Ok(()));
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
        report.record(("1", "a holds"), "GET /a", Ok(()));
        report.record(("1", "a holds"), "GET /b", Err("404".to_owned()));
        report.not_testable(("1", "b holds"), "it has no consequence");
        report.record(("1", "c holds"), "GET /c", Ok(()));
        let text = report.finish().unwrap_err();
        assert!(text.contains("found: 404") && text.contains("no statement with `c holds`"), "{text}");
        assert!(text.ends_with("1 cases pass, 2 fail, 1 are not testable from outside"), "{text}");
    }
}
