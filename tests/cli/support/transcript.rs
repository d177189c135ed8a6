//! Snapshots of what a command prints: exit code, standard output and standard error, with redactions for what differs between runs.

use std::sync::LazyLock;

use regex::Regex;

/// Redactions, in order: a pattern and its replacement.
pub(crate) const REDACTIONS: &[(&str, &str)] = &[
    // Paths and addresses.
    (r"/[a-z]+/\.tmp[A-Za-z0-9]+", "[PROJECT]"),
    (r"127\.0\.0\.1:\d+", "[ADDRESS]"),
    // Ids: runs are ULIDs, attempts are numbered within their run.
    (r"\b[0-9A-HJKMNP-TV-Z]{26}\.\d+\b", "[ATTEMPT]"),
    (r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "[RUN]"),
    (r"\btask_[A-Za-z0-9]{26}\b", "[TASK]"),
    (r"\bsk-[A-Za-z0-9_-]{20,}", "[API KEY]"),
    (r"\bkey_[A-Za-z0-9]+\b", "[KEY ID]"),
    (r"\baccount [0-9a-f]{8}:", "account [ACCOUNT]:"),
    // Hashes, and their prefixes in file names and tables.
    (r"\b[0-9a-f]{64}\b", "[SHA256]"),
    (r"\b[0-9a-f]{12}\b", "[KEY]"),
    (r"\b[0-9a-f]{24}\.part\b", "[PART].part"),
    (r"-[0-9a-f]{8,16}\.mp4", "-[KEY].mp4"),
    // Videos contain the id of their task, which compresses differently.
    (r#""bytes":( ?)\d+"#, r#""bytes":$1[BYTES]"#),
    // Times: of day, since the epoch in milliseconds, and how long something took.
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[TIME]"),
    (r"\b1[789]\d{11}\b", "[MS]"),
    (r"done in \d+\.\d s", "done in [DURATION]"),
    (r#""(elapsed|task_duration)_ms":( ?)\d+"#, r#""$1_ms":$2[DURATION]"#),
    (
        r"\b(alive for|ended|after|started|to http://\[ADDRESS\]|at http://\[ADDRESS\] for) \d+ (s|min)( \d+ s)?\b",
        "$1 [DURATION]",
    ),
    (r"(\[TASK\]|-)  \d+\.\d  out/", "$1  [DURATION]  out/"),
    (
        r"(in-flight|indeterminate|detached|blocked|downloading|waiting)  \d+ (s|min)( \d+ s)?\b",
        "$1  [DURATION]",
    ),
    (r"(\(attempt \d+ of \d+ in )\d+ (s|min)( \d+ s)?\)  \d+ s", "$1[DURATION])  [DURATION]"),
    (r"(\(attempt \d+ of \d+ in )\d+ s\):", "$1[DURATION]):"),
    // Numbers of the operating system.
    (r"refused \(os error \d+\)", "refused (os error [NUMBER])"),
    // Measured in floating point.
    (r"sound at -\d+\.\d LUFS", "sound at [LOUDNESS] LUFS"),
    (r"\[DURATION\]  \d+ s  ", "[DURATION]  [DURATION]  "),
    (r"(\[KEY ID\]|revoked)( +)\d{4}-\d\d-\d\d", "$1$2[DATE]"),
];

/// The settings of snapshots. Made once: compiling the redactions takes longer than most commands.
pub(crate) fn settings() -> &'static insta::Settings {
    static SETTINGS: LazyLock<insta::Settings> = LazyLock::new(|| {
        let mut settings = insta::Settings::new();
        for (pattern, replacement) in REDACTIONS {
            settings.add_filter(pattern, *replacement);
        }
        settings.set_omit_expression(true);
        settings
    });
    &SETTINGS
}

/// A text with the redactions of snapshots.
pub(crate) fn redact(text: &str) -> String {
    static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let compiled = |(pattern, replacement): &(&str, &'static str)| {
            (Regex::new(pattern).expect("a pattern"), *replacement)
        };
        REDACTIONS.iter().map(compiled).collect()
    });
    PATTERNS.iter().fold(text.to_owned(), |text, (pattern, replacement)| {
        pattern.replace_all(&text, *replacement).into_owned()
    })
}

/// A transcript with the columns of tables separated by two spaces, because their widths follow cells that are redacted. Lines of
/// diagnostics, which contain a bar, keep their spaces.
pub(crate) fn normalize_columns(transcript: &str) -> String {
    let mut normalized = String::with_capacity(transcript.len());
    for line in transcript.lines() {
        let (indent, text) = line.split_at(line.len() - line.trim_start().len());
        normalized.push_str(indent);
        if line.contains('|') {
            normalized.push_str(text);
        } else {
            let cells: Vec<&str> = text.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
            normalized.push_str(&cells.join("  "));
        }
        normalized.push('\n');
    }
    normalized
}

/// Compares the transcript of a command with the snapshot of this name.
macro_rules! cli_snapshot {
    ($name:expr, $output:expr) => {
        $crate::support::transcript::settings().bind(|| {
            insta::assert_snapshot!(
                $name,
                $crate::support::transcript::normalize_columns(&$output.transcript())
            );
        })
    };
}
pub(crate) use cli_snapshot;

/// Compares a text, such as a short transcript or the end of a long one, with an inline snapshot. In a loop each text is compared with it.
macro_rules! inline_snapshot {
    ($text:expr, @$expected:literal) => {
        $crate::support::transcript::settings().bind(|| {
            insta::allow_duplicates! {
                insta::assert_snapshot!($crate::support::transcript::normalize_columns(&$text), @$expected);
            }
        })
    };
}
pub(crate) use inline_snapshot;
