//! Diagnostics as annotations of GitHub Actions: workflow commands on standard output
//! (<https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands>).

use std::fmt::Write as _;
use std::path::Path;

use workflow::{JsonDiagnostic, Severity};

/// The annotation of a diagnostic.
pub(crate) fn annotation(diagnostic: &JsonDiagnostic) -> String {
    let mut properties =
        format!("file={},line={},col={}", property(&diagnostic.file), diagnostic.line, diagnostic.column);
    // The page marks a span on one line only.
    if let Some(span) = diagnostic.spans.first()
        && span.line == span.end_line
        && span.end_column > span.column
    {
        // Its end is inclusive there.
        let _ = write!(properties, ",endColumn={}", span.end_column - 1);
    }
    let mut text = diagnostic.message.clone();
    if let Some(help) = &diagnostic.help {
        let _ = write!(text, "\nhelp: {help}");
    }
    let kind = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    format!("::{kind} {properties},title={}::{}", property(diagnostic.code), data(&text))
}

/// The annotation of a file that cannot be read.
pub(crate) fn unreadable(file: &Path, reason: &str) -> String {
    format!("::error file={},title=unreadable::{}", property(&file.display().to_string()), data(reason))
}

/// Text of the message; what would end the line is percent-encoded.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, which also ends at a colon or a comma.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_escaped() {
        let diagnostic = JsonDiagnostic {
            code: "unknown-key",
            severity: Severity::Warning,
            message: "100 %\r\n::error::x".to_owned(),
            file: "a:b,c\n::stop-commands::x.yaml".to_owned(),
            line: 3,
            column: 5,
            help: Some("write `a`".to_owned()),
            spans: Vec::new(),
        };
        assert_eq!(
            annotation(&diagnostic),
            "::warning file=a%3Ab%2Cc%0A%3A%3Astop-commands%3A%3Ax.yaml,line=3,col=5,title=unknown-key::100 %25%0D%0A::error::x%0Ahelp: write `a`"
        );
    }
}
