//! Compiles the examples of codes.

use contract::Contract;

use crate::diagnostic::{Code, Report};
use crate::files::InMemory;
use crate::load;
use crate::media_gate::MediaGate;
use crate::options::Options;
use crate::scaffold::VideoOptions;
use crate::{import, prices, services_file};

impl Code {
    /// Compiles the first file of its example as it is; `None` if there is no file.
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

    /// What leads to it besides the files, in Markdown: arguments, or a pick on record.
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
