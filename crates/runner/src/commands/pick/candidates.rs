//! The candidates of picks, with what tells them apart.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use contract::Word;
use engine::artifact_store::Verify;
use engine::preview::survey;
use engine::provider::Accounts;
use scheduler::Artifact;
use serde_json::Value;
use workflow::ShotRef;
use workflow::plan::{NodeIx, PickGroup, PickKind, Plan, Said};

use crate::args::EngineAddressArgs;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output_folder;
use crate::project_paths::{ProjectPaths, display_path};
use crate::records::Records;
use crate::report::{Table, sanitize};
use crate::selection::select;
use crate::shell;

/// Maximum number of candidates of a shot where all shots are listed.
const MAX_LISTED: usize = 24;
/// Maximum number of picks where all are listed.
const MAX_GROUPS: usize = 50;
/// Maximum length of a column of text, in characters.
const MAX_TEXT_CHARS: usize = 60;

/// Lists the candidates of one shot, or of all.
pub(super) async fn list(
    plan: &Plan,
    file: &Path,
    engine: &EngineAddressArgs,
    scope: Option<&ShotRef>,
) -> Result<Exit, CommandError> {
    let groups = match scope {
        Some(scope) => groups_of(plan, scope, file)?,
        None => plan.pick_groups().iter().collect(),
    };
    if groups.is_empty() && scope.is_none() {
        outln!("no shot of this workflow has takes or instances to pick from");
        return Ok(Exit::Done);
    }
    let paths = ProjectPaths::for_workflow(file)?;
    let records = Records::open(&paths, engine, Some(plan.name())).await?;
    let services = records.services_without_keys(plan)?;
    let keys = records.key_resolver(plan, &services.identity).await?;
    let (previews, mut videos) =
        survey(plan, records.work(), &keys, &Accounts::default(), &Verify::Metadata).await?;
    // A person picks by looking at them.
    records.localize(&previews, &mut videos, &output_folder::of(&paths, plan, &services, None)?).await?;
    let open: HashSet<(PickKind, NodeIx)> =
        plan.open_picks().iter().flat_map(|pick| pick.candidates.iter().map(|ix| (pick.kind, *ix))).collect();
    let from = file;
    let file = shell::path(file) + &engine.suffix();
    let mut is_action_needed = false;
    for (index, group) in groups.iter().enumerate() {
        let is_open = group.candidates.iter().any(|ix| open.contains(&(group.kind, *ix)));
        is_action_needed |= is_open;
        if scope.is_none() && index >= MAX_GROUPS {
            continue;
        }
        if index > 0 {
            outln!("");
        }
        outln!("{}", heading(plan, group, is_open, &file));
        let limit = if scope.is_some() { usize::MAX } else { MAX_LISTED };
        out!("{}", table(plan, group, &videos, limit));
        let more = group.candidates.len().saturating_sub(limit);
        if more > 0 {
            outln!("and {more} more: `runner pick {file} {}`", shell::quote(&group.name));
        }
    }
    if let (Some(scope), Some(ledger)) = (scope, records.ledger()) {
        // Takes are all listed above.
        let mut nodes = select(plan, &scope.to_string(), from)?;
        nodes.retain(|ix| plan.node(*ix).take.is_none());
        for ix in &nodes {
            let renders = super::renders::table(plan, ledger, *ix, previews[ix.index()].full_key)?;
            if let Some((count, table)) = renders.filter(|(count, _)| *count > 1 || nodes.len() == 1) {
                let name = &plan.node(*ix).name;
                outln!("{name}: {count} {}", if count == 1 { "render" } else { "renders" });
                out!("{table}");
            }
        }
    }
    if scope.is_none() && groups.len() > MAX_GROUPS {
        outln!("\nand {} more: `runner plan {file}` names what is needed", groups.len() - MAX_GROUPS);
    }
    Ok(if is_action_needed { Exit::ActionNeeded } else { Exit::Done })
}

/// The groups of a shot, or of some of its instances.
fn groups_of<'p>(plan: &'p Plan, scope: &ShotRef, file: &Path) -> Result<Vec<&'p PickGroup>, CommandError> {
    let nodes: BTreeSet<NodeIx> = select(plan, &scope.to_string(), file)?.into_iter().collect();
    let groups: Vec<&PickGroup> = plan
        .pick_groups()
        .iter()
        .filter(|group| group.candidates.iter().any(|candidate| nodes.contains(candidate)))
        .collect();
    Ok(groups)
}

fn heading(plan: &Plan, group: &PickGroup, is_open: bool, file: &str) -> String {
    let name = &group.name;
    let command = |choice: String| format!("runner pick {file} {} {choice}", shell::quote(name));
    match (group.picked.as_slice(), is_open) {
        ([], true) => {
            let first = group.candidates.first().map(|ix| plan.node(*ix));
            let example = first.map_or_else(String::new, |first| match group.kind {
                PickKind::Take => first.take.unwrap_or(1).to_string(),
                PickKind::Cell => shell::quote(super::choice::cell_of(&first.name)),
            });
            format!("{name}: not picked, for example `{}`", command(example))
        }
        ([], false) if group.kind == PickKind::Take => {
            format!("{name}: not picked, and nothing waits for it")
        }
        ([], false) => format!("{name}: not picked, all {} instances are used", group.candidates.len()),
        (picked, _) => {
            let names: Vec<&str> = picked.iter().map(|ix| plan.node(*ix).name_without_take()).collect();
            let picked = match (group.kind, picked) {
                (_, [only]) => plan.node(*only).name.as_str(),
                _ => names.first().copied().unwrap_or_default(),
            };
            let source =
                group.location.as_ref().map(|location| format!(" at {location}")).unwrap_or_default();
            format!("{name}: picked {picked}{source}")
        }
    }
}

fn table(plan: &Plan, group: &PickGroup, videos: &[Option<Artifact>], limit: usize) -> String {
    let requests: Vec<BTreeMap<String, Value>> =
        group.candidates.iter().map(|ix| parameters(plan, *ix)).collect();
    let prompts: Vec<&str> =
        group.candidates.iter().map(|ix| plan.node(*ix).prompt().unwrap_or_default()).collect();
    let prompts = differing_words(&prompts);
    let differing = differing_parameters(&requests);
    let mut table = Table::new(["", "candidate", "seed", "parameters", "prompt", "file"]);
    for (index, ix) in group.candidates.iter().enumerate().take(limit) {
        let request = &requests[index];
        let parameters: Vec<String> = differing
            .iter()
            .filter_map(|name| Some(format!("{name}={}", text(request.get(name.as_str())?))))
            .collect();
        table.row([
            if group.picked.contains(ix) { "*" } else { "" }.to_owned(),
            plan.node(*ix).name.clone(),
            request.get(Word::Seed.as_str()).map_or_else(|| "-".to_owned(), text),
            shortened(&parameters.join(", ")),
            shortened(&prompts[index]),
            videos[ix.index()]
                .as_ref()
                .map_or_else(|| "not rendered".to_owned(), |video| display_path(&video.path)),
        ]);
    }
    table.keep(|column| match column {
        3 => !differing.is_empty(),
        4 => prompts.iter().any(|prompt| !prompt.is_empty()),
        _ => true,
    });
    table.render()
}

/// What a node's request says.
fn parameters(plan: &Plan, ix: NodeIx) -> BTreeMap<String, Value> {
    let node = plan.node(ix);
    let value = |said: &Said| Some((said.path(), node.request.pointer(&said.at)?.clone()));
    node.said.iter().filter_map(value).filter(|(_, value)| !value.is_null()).collect()
}

/// The names of parameters, other than prompt and seed, in which requests differ.
fn differing_parameters(requests: &[BTreeMap<String, Value>]) -> BTreeSet<String> {
    let Some(first) = requests.first() else { return BTreeSet::new() };
    let names: BTreeSet<&String> = requests.iter().flat_map(BTreeMap::keys).collect();
    let is_shown = |name: &&&String| ![Word::Prompt, Word::Seed].iter().any(|word| word.as_str() == **name);
    let differs = |name: &&&String| requests.iter().any(|request| request.get(**name) != first.get(**name));
    names.iter().filter(is_shown).filter(differs).map(|name| (*name).clone()).collect()
}

/// The words of each text that not all texts have.
fn differing_words(texts: &[&str]) -> Vec<String> {
    let words: Vec<HashSet<&str>> = texts.iter().map(|text| text.split_whitespace().collect()).collect();
    let Some((first, others)) = words.split_first() else { return Vec::new() };
    let shared: HashSet<&str> =
        first.iter().copied().filter(|word| others.iter().all(|words| words.contains(word))).collect();
    let differing = |text: &&str| {
        let words: Vec<&str> = text.split_whitespace().filter(|word| !shared.contains(word)).collect();
        words.join(" ")
    };
    texts.iter().map(differing).collect()
}

/// A value on one line.
fn text(value: &Value) -> String {
    sanitize::line(&value.as_str().map_or_else(|| value.to_string(), str::to_owned)).into_owned()
}

fn shortened(text: &str) -> String {
    let text = sanitize::line(text).into_owned();
    if text.is_empty() {
        return "-".to_owned();
    }
    if text.chars().count() <= MAX_TEXT_CHARS {
        return text;
    }
    text.chars().take(MAX_TEXT_CHARS - 1).chain("…".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differing_words_are_those_that_not_all_texts_have() {
        assert_eq!(
            differing_words(&["the pier, noir, calm", "the pier, pastel, calm"]),
            ["noir,", "pastel,"]
        );
        assert_eq!(differing_words(&["a b", "a b"]), ["", ""]);
        assert_eq!(differing_words(&["a b", "b"]), ["a", ""]);
        assert!(differing_words(&[]).is_empty());
    }
}
