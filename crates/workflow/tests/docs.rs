//! The guide: every example of a workflow is valid, and docs/workflow.md has one of every key of the file format.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests may stop at the first surprise")]

use std::path::Path;

use contract::Contract;
use serde_json::Value;
use workflow::{InMemory, Options, check, workflow_schema};

use crate::gate;

/// A fenced example: what its first line says after the fence, its line in the page, and its text.
struct Example<'p> {
    kind: &'p str,
    line: usize,
    text: String,
}

fn page() -> String {
    other_page("workflow.md")
}

fn other_page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(path).expect("the page is there")
}

fn examples(page: &str) -> Vec<Example<'_>> {
    let mut parsed: Vec<Example<'_>> = Vec::new();
    let mut open = false;
    for (index, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(kind) => {
                open = true;
                parsed.push(Example { kind, line: index + 1, text: String::new() });
            }
            None if open => {
                let text = &mut parsed.last_mut().unwrap().text;
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    assert!(!open, "an example has no end");
    parsed
}

/// What surrounds examples of single shots: the parameters that they use, and a shot that they name.
const AROUND: &str = "version: 1
params: {keeper: a keeper, long: true}
defaults: {model: modela-video-2-0-260128, ratio: \"16:9\", seconds: 5, seed: 7}
shots:
";

/// Four seconds of video.
const STORM: &[u8] = include_bytes!("valid/archive/storm.mp4");

/// The films of a page's examples show these.
const AROUND_FILM: &str = "version: 1
defaults: {model: modela-video-2-0-260128, ratio: \"16:9\", seconds: 5, seed: 7}
shots:
  - {id: pier, prompt: x}
  - {id: lamp, prompt: y}
";

#[test]
fn guide_examples_are_valid() {
    for (page, min_examples) in [("workflow.md", 10), ("film.md", 4), ("begin.md", 1), ("../README.md", 1)] {
        examples_are_valid(page, min_examples);
    }
}

#[test]
fn example_of_prices_is_valid() {
    let page = other_page("prices.md");
    let example = examples(&page).into_iter().find(|example| example.kind == "yaml").expect("an example");
    let outcome = workflow::prices::check(example.text.as_bytes(), "docs/prices.md", &[Contract::embedded()]);
    assert!(outcome.prices.is_some() && outcome.report.diagnostics.is_empty(), "{}", outcome.report);
}

fn examples_are_valid(page_name: &str, min_examples: usize) {
    let page = other_page(page_name);
    let examples = examples(&page);
    let mut files = InMemory::default()
        .with("stills/keeper.png", gate::png())
        .with("sounds/score.wav", gate::wav())
        .with("sounds/keeper.wav", gate::wav())
        .with("stills/logo.png", gate::png())
        .with("archive/storm.mp4", STORM)
        .with("fonts/Inter.ttf", *b"\0\x01\0\0")
        .with_media_gate(gate::media_gate());
    for example in &examples {
        if let Some((_, name)) = example.kind.split_once("file=") {
            files = files.with(name, example.text.clone());
        }
    }
    let mut checked = 0;
    for example in &examples {
        let text = match example.kind {
            "yaml" => example.text.clone(),
            "yaml shot" => {
                let indented: String = example.text.lines().flat_map(|line| ["  ", line, "\n"]).collect();
                let harbor = "  - {id: harbor, prompt: x}\n";
                format!("{AROUND}{}{indented}", if indented.contains("id: harbor\n") { "" } else { harbor })
            }
            "yaml film" => format!("{AROUND_FILM}{}", example.text),
            kind if kind.contains("file=") => continue,
            kind if page_name == "workflow.md" || kind.starts_with("yaml") => {
                panic!("docs/{page_name}:{}: what is `{kind}`?", example.line)
            }
            _ => continue,
        };
        checked += 1;
        let name = format!("docs/{page_name}:{}", example.line);
        let outcome = check(text.as_bytes(), &name, &files, &Options::default(), Contract::embedded());
        let unwanted = outcome.report.diagnostics.iter().filter(|diagnostic| {
            let is_part = example.kind.contains("shot");
            diagnostic.code != "service-may-refuse" && !(is_part && diagnostic.code == "unused-param")
        });
        assert_eq!(unwanted.count(), 0, "{}", outcome.report);
        assert!(outcome.plan.is_some());
    }
    assert!(checked >= min_examples, "{page_name}: {checked}");
}

#[test]
fn guide_has_example_of_every_key() {
    let page = page();
    let yaml: String = examples(&page)
        .into_iter()
        .filter(|example| example.kind.starts_with("yaml"))
        .map(|example| example.text)
        .collect();
    let contract = Contract::embedded();
    let schema = workflow_schema(contract);
    let keys_of = |properties: &Value| properties.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let is_field = |key: &str| contract.families().any(|family| contract.field(family, key).is_some());
    let mut all = keys_of(&schema["properties"]);
    all.extend(keys_of(&schema["$defs"]["Film"]["properties"]));
    all.extend(keys_of(&schema["$defs"]["Shot"]["properties"]).into_iter().filter(|key| !is_field(key)));
    all.extend(
        [
            "include", "exclude", "zip", "csv", "files", "from", "to", "type", "default", "min", "max",
            "one_of",
        ]
        .map(str::to_owned),
    );
    assert!(all.len() > 30);
    for key in all {
        // `pick` is explained in a sentence: the example beside it shows what happens without.
        let is_named = yaml.contains(&format!("{key}:")) || page.contains(&format!("`{key}: "));
        assert!(is_named, "docs/workflow.md has no example of `{key}`");
    }
}

#[test]
fn guide_explains_every_warning() {
    let page = [page(), other_page("prices.md"), other_page("begin.md")].concat();
    for workflow::Code { name: code, meaning, .. } in workflow::CODES.iter() {
        assert!(!meaning.starts_with("warning") || page.contains(&format!("`{code}`")), "{code}");
    }
}
