//! An example for each code: text that produces it, and how to fix that. `runner explain` and docs/codes.md show them; a test compiles
//! all of them.
//!
//! An example is a file of sections, each after a line `=== NAME`. The first section is what is compiled, by its name a workflow, a price table
//! or a shot list. Others are files beside it, or `arguments` (of the command line), `fix` (lines to remove and to add, in order) and
//! `help` (for people). Examples that would be too large have only help.

use contract::Contract;

use crate::diagnostic::{EXAMPLES, Report};
use crate::files::InMemory;
use crate::load;
use crate::media_gate::MediaGate;
use crate::options::Options;
use crate::scaffold::VideoOptions;
use crate::{import, prices, services_file};

/// An example that produces a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeExample {
    /// The code, one of [`CODES`](crate::CODES).
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
pub fn code_example(code: &str) -> Option<CodeExample> {
    let (code, text) = EXAMPLES.iter().find(|(listed, _)| *listed == code)?;
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
    pub fn report(&self, gate: MediaGate, contract: &Contract) -> Option<Report> {
        let ((name, text), others) = self.files.split_first()?;
        let bytes = text.as_bytes();
        if *name == "prices.yaml" {
            return Some(prices::check(bytes, name, &[contract]).report);
        }
        if *name == "shots.csv" {
            let video = VideoOptions { family: "a".to_owned(), model: None, aspect: "16:9".to_owned() };
            let options = import::ImportOptions {
                name: "shots".to_owned(),
                video,
                chain_scenes: false,
                columns: Vec::new(),
            };
            return import::import(bytes, name, &options, contract).ok().map(|imported| imported.report);
        }
        if *name == "services.yaml" {
            return Some(services_file::check(bytes, name, &InMemory::default()).report);
        }
        let files =
            others.iter().fold(InMemory::default(), |files, (name, text)| files.with(*name, text.as_bytes()));
        let files = files.with_media_gate(gate);
        Some(load::check(bytes, name, &files, &self.options(), contract).report)
    }

    /// What leads to the code besides the files, in Markdown: arguments, or a pick on record.
    pub fn condition(&self) -> Option<String> {
        match self.arguments.strip_prefix("--pick ") {
            Some(pick) => Some(format!("after `runner pick storyboard.yaml {}`", pick.replace('=', " "))),
            None => (!self.arguments.is_empty()).then(|| format!("with the arguments `{}`", self.arguments)),
        }
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
