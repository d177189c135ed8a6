//! An example for each code: text that produces it, and how to fix that. `runner explain-code` and docs/codes.md show them; a test compiles
//! all of them.
//!
//! An example is a file of sections, each after a line `=== NAME`. The first section is what is compiled, by its name a workflow, a price table
//! or a shot list. Others are files beside it, or `arguments` (of the command line), `fix` (lines to remove and to add, in order) and
//! `help` (for people). Examples that would be too large have only help.

use contract::Contract;

use super::Report;
use crate::files::InMemory;
use crate::load::{self, Options};
use crate::media_gate::MediaGate;
use crate::scaffold::PictureOptions;
use crate::{import, prices};

/// An example that produces a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeExample {
    /// The code, one of [`CODES`](super::CODES).
    pub code: &'static str,
    /// Names and texts of the files, the one that is compiled first. Empty if an example would be too large.
    pub files: Vec<(&'static str, &'static str)>,
    /// Arguments of the command line that it needs; may be empty.
    pub arguments: &'static str,
    /// Lines to remove from the first file, after `- `, and to add there, after `+ `; empty if the file is right and something else is to be
    /// changed.
    pub fix: &'static str,
    /// What to do, in Markdown.
    pub help: &'static str,
}

/// The example of a code; `None` if there is no such code.
#[must_use]
pub fn code_example(code: &str) -> Option<CodeExample> {
    let (code, text) = TEXTS.iter().find(|(listed, _)| *listed == code)?;
    Some(read(code, text))
}

fn read(code: &'static str, text: &'static str) -> CodeExample {
    let mut example = CodeExample { code, files: Vec::new(), arguments: "", fix: "", help: "" };
    for section in text.split("=== ").skip(1) {
        let (name, body) = section.split_once('\n').unwrap_or((section, ""));
        match name {
            "arguments" => example.arguments = body.trim_end(),
            "fix" => example.fix = body.trim_end_matches('\n'),
            "help" => example.help = body.trim_end(),
            file => example.files.push((file, body)),
        }
    }
    example
}

impl CodeExample {
    /// Compiles the first file as it is; `None` if there is no file.
    #[must_use]
    pub fn report(&self, gate: MediaGate, contract: &Contract) -> Option<Report> {
        let (_, text) = self.files.first()?;
        self.compile(text, gate, contract)
    }

    /// Compiles the first file once it is fixed; `None` if the fix is not in the file. For the test that proves every fix: the guide and
    /// `explain-code` show the fix itself.
    #[must_use]
    pub fn fixed_report(&self, gate: MediaGate, contract: &Contract) -> Option<Report> {
        self.compile(&self.fixed()?, gate, contract)
    }

    /// What leads to the code besides the files, in Markdown: arguments, or a pick on record.
    #[must_use]
    pub fn condition(&self) -> Option<String> {
        match self.arguments.strip_prefix("--pick ") {
            Some(pick) => Some(format!("after `runner pick storyboard.yaml {}`", pick.replace('=', " "))),
            None => (!self.arguments.is_empty()).then(|| format!("with the arguments `{}`", self.arguments)),
        }
    }

    /// The first file with the fix applied; `None` where it has no fix.
    #[must_use]
    pub fn fixed(&self) -> Option<String> {
        let (_, text) = self.files.first()?;
        let mut text = (*text).to_owned();
        let mut hunk = (String::new(), String::new());
        for line in self.fix.lines().chain(std::iter::once("-")) {
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
        (!self.fix.is_empty()).then_some(text)
    }

    fn compile(&self, text: &str, gate: MediaGate, contract: &Contract) -> Option<Report> {
        let ((name, _), others) = self.files.split_first()?;
        let bytes = text.as_bytes();
        if *name == "prices.yaml" {
            return Some(prices::check(bytes, name, contract).report);
        }
        if *name == "shots.csv" {
            let picture = PictureOptions { family: "a".to_owned(), model: None, aspect: "16:9".to_owned() };
            let options = import::ImportOptions {
                name: "shots".to_owned(),
                picture,
                chain_scenes: false,
                columns: Vec::new(),
            };
            let kind = import::SourceKind::ShotList;
            return import::import(bytes, name, kind, &options, contract)
                .ok()
                .map(|imported| imported.report);
        }
        let files =
            others.iter().fold(InMemory::default(), |files, (name, text)| files.with(*name, text.as_bytes()));
        let files = files.with_media_gate(gate);
        Some(load::check(bytes, name, &files, &self.options(), contract).report)
    }

    /// The arguments as options: `-p NAME=VALUE`, `-a AXIS=VALUES`, `--pick SHOT=TAKE`.
    fn options(&self) -> Options {
        let mut options = Options::default();
        let words: Vec<&str> = self.arguments.split_whitespace().collect();
        for pair in words.chunks(2) {
            let (flag, value) = (pair[0], pair.get(1).copied().unwrap_or_default());
            let (name, value) = value.split_once('=').unwrap_or((value, ""));
            match flag {
                "-p" => options.params.push((name.to_owned(), value.to_owned())),
                "-a" => options.axes.push((name.to_owned(), value.to_owned())),
                _ => {
                    options.picks.takes.insert(name.to_owned(), value.parse().unwrap_or_default());
                }
            }
        }
        options
    }
}

macro_rules! texts {
    ($($code:literal,)*) => {
        /// The codes with their examples.
        const TEXTS: &[(&str, &str)] = &[$(($code, include_str!(concat!("examples/", $code, ".txt")))),*];
    };
}

texts! {
    "ambiguous-instance",
    "ambiguous-pick",
    "bad-axis",
    "bad-cast",
    "bad-dialogue",
    "bad-duration",
    "bad-file",
    "bad-film",
    "bad-group",
    "bad-include",
    "bad-key",
    "bad-matrix",
    "bad-medium",
    "bad-name",
    "bad-param",
    "bad-pick",
    "bad-screenplay",
    "bad-table",
    "bad-value",
    "blank-prompt",
    "comment-in-text",
    "control-character",
    "cycle",
    "dollar-before-template",
    "duplicate-id",
    "duplicate-key",
    "empty-file",
    "equal-cells",
    "excluded",
    "field-in-text",
    "file-too-large",
    "foreign-placeholder",
    "frame-conflict",
    "frame-unsupported",
    "include-cycle",
    "include-limit",
    "included-twice",
    "invalid-plan",
    "invalid-request",
    "length-changed",
    "local-file",
    "long-chain",
    "matrix-too-large",
    "media-too-large",
    "missing-character",
    "missing-key",
    "missing-model",
    "missing-param",
    "needs-ffmpeg",
    "never-true",
    "no-dialogue",
    "no-matching-instance",
    "no-prompt",
    "no-shots",
    "not-utf8",
    "other-encoding",
    "range-in-list",
    "ratio-unstated",
    "renamed-shot",
    "retry-with-seed",
    "seconds-unstated",
    "secret-in-file",
    "service-may-refuse",
    "stale-pick",
    "sweep-without-seed",
    "template-error",
    "template-limit",
    "template-syntax",
    "too-many",
    "two-first-frames",
    "two-prices",
    "undefined-name",
    "unknown-character",
    "unknown-field",
    "unknown-group",
    "unknown-key",
    "unknown-member",
    "unknown-model",
    "unknown-param",
    "unknown-shot",
    "unread-characters",
    "unread-fields",
    "unread-lengths",
    "unsafe-retry",
    "unsupported-version",
    "unused-anchor",
    "unused-axis",
    "unused-character",
    "unused-default",
    "unused-exclude",
    "unused-group",
    "unused-param",
    "unused-price",
    "wrong-type",
    "yaml-limit",
    "yaml-syntax",
}
