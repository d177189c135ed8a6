//! Lints: warnings about legal workflows that are almost certainly not intended.

use std::collections::HashSet;

use contract::{Placement, Word};
use serde_json::Value;

use super::axes::axis_names;
use super::dedup::DiagnosticDedup;
use super::expansion::Expansion;
use super::fields::entry;
use super::{ExpandCx, equal_requests, free_variables, member_lints, prompt_lints, text_lints, when_lints};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean};
use crate::plan::{Node, RetryOn};
use crate::syntax::keys::matrix::MATRIX;
use crate::syntax::{Entry, Shot, Workflow};
use crate::template::has_template;
use crate::yaml::{Yaml, YamlValue};

/// Runs all lints on the workflow and its requests.
pub(super) fn run(
    workflow: &Workflow,
    expansion: &Expansion<'_>,
    nodes: &[Node],
    cx: &ExpandCx<'_>,
    problems: &mut Problems,
) {
    let used = free_variables::names(workflow);
    unused_params(workflow, &used, problems);
    unused_axes(workflow, &used, problems);
    workflow.text_warnings.iter().for_each(|warning| problems.push(warning.clone()));
    when_lints::run(workflow, expansion, nodes, problems);
    let requests = Requests::new(workflow, nodes);
    let mut dedup = DiagnosticDedup::default();
    prompt_lints::run(workflow, &requests, &mut dedup);
    text_lints::run(workflow, cx, problems);
    text_lints::unused_defaults(workflow, nodes, cx, problems);
    member_lints::run(workflow, &requests, cx, problems);
    sweeps_without_seed(workflow, expansion, &requests, cx, &mut dedup);
    equal_requests::run(&requests, &mut dedup);
    retries_with_a_seed(&requests, &mut dedup);
    let left_open = |word: Word| {
        let requests = requests.shots(move |node| {
            is_left_open(node, word, cx) && (word != Word::Ratio || !takes_an_image(node, cx))
        });
        requests.filter(move |(_, shot)| !says_null(workflow, shot, word.as_str()))
    };
    for (index, shot) in left_open(Word::Seconds) {
        let message = "the length of this shot is left to the service";
        let help = "set `seconds:` here or in `defaults`; `seconds: null` leaves it to the service without this warning";
        let warning = Diagnostic::warning("seconds-unstated", shot.id.span, message);
        dedup.add_of_shot(index, warning.help(help));
    }
    for (index, shot) in left_open(Word::Ratio) {
        let message =
            "the shape of this shot is left to the service, and there is no image that it could follow";
        let warning = Diagnostic::warning("ratio-unstated", shot.id.span, message);
        dedup.add_of_shot(index, warning.help("set `ratio:` here or in `defaults`"));
    }
    ratios_without_media(workflow, &requests, cx, &mut dedup);
    dedup.flush(expansion, problems);
}

/// A parameter that no template uses. Parameters of included files are exempt.
fn unused_params(workflow: &Workflow, used: &HashSet<&str>, problems: &mut Problems) {
    for param in workflow.all_params().filter(|param| !param.is_included) {
        let name = &param.key.value;
        if !used.contains(name.as_str()) {
            problems.push(
                Diagnostic::warning(
                    "unused-param",
                    param.key.span,
                    format!("nothing uses the parameter `{name}`"),
                )
                .help(format!("write `{{{{ {name} }}}}` where it belongs, or remove it")),
            );
        }
    }
}

/// An axis that no template uses: its cells have identical requests.
fn unused_axes(workflow: &Workflow, used: &HashSet<&str>, problems: &mut Problems) {
    for matrix in workflow.matrix.iter().chain(workflow.shots.iter().filter_map(|shot| shot.matrix.as_ref()))
    {
        for axis in axis_names(&matrix.value).filter(|axis| !used.contains(axis)) {
            let span = matrix.value.get(axis).map_or(matrix.key.span, |(key, _)| key.span);
            let message = format!("nothing uses the axis `{axis}`: one video is made for all of its values");
            let meant = matrix.value.get(axis).filter(|(_, values)| are_rules(values));
            let meant = meant.and_then(|_| did_you_mean(axis, MATRIX.names()));
            problems.push(Diagnostic::warning("unused-axis", span, message).help(meant.unwrap_or_else(
                || {
                    format!(
                        "write `{{{{ {axis} }}}}` in a field; several candidates of one shot are `takes: 3`"
                    )
                },
            )));
        }
    }
}

/// Whether a value is a list of mappings, such as that of `exclude`.
fn are_rules(value: &Yaml) -> bool {
    matches!(&value.value, YamlValue::List(items) if items.iter().all(|item| matches!(item.value, YamlValue::Map(_))))
}

/// A matrix without a seed: the service draws one for each cell, so a difference cannot be attributed to an axis.
fn sweeps_without_seed(
    workflow: &Workflow,
    expansion: &Expansion<'_>,
    requests: &Requests<'_>,
    cx: &ExpandCx<'_>,
    dedup: &mut DiagnosticDedup,
) {
    let without = |node: &Node| is_left_open(node, Word::Seed, cx);
    let shots: HashSet<&str> = requests.shots(without).map(|(_, shot)| shot.id.value.as_str()).collect();
    for (index, (shot, expanded)) in workflow.shots.iter().zip(&expansion.shots).enumerate() {
        let is_sweep = expanded.as_ref().is_some_and(|expanded| expanded.cells.len() > 1);
        // A shot that inherits its axes is not reported; the shot that declares them is.
        let Some(matrix) = &shot.matrix else { continue };
        if is_sweep && shots.contains(shot.id.value.as_str()) {
            dedup.add_of_shot(
                index,
                Diagnostic::warning("sweep-without-seed", matrix.key.span, "this sweep has no seed")
                    .label("differences between cells may come from an axis or from chance")
                    .help("set `seed: 7`, the same for all cells, or add an axis for the seed"),
            );
        }
    }
}

/// `retry` after output moderation with a fixed seed: the same request is likely to be withheld again.
fn retries_with_a_seed(requests: &Requests<'_>, dedup: &mut DiagnosticDedup) {
    let repeats = |node: &Node| {
        node.retry > 1 && node.retry_on.contains(RetryOn::OutputModerated) && node.word(Word::Seed).is_some()
    };
    for (index, shot) in requests.shots(repeats) {
        let Some(retry) = &shot.retry else { continue };
        dedup.add_of_shot(
            index,
            Diagnostic::warning(
                "retry-with-seed",
                retry.key.span,
                "a retry requests the same video with the same seed, and pays for it again",
            )
            .label("what moderation withheld once it is likely to withhold again")
            .help("remove the seed, or write `retry: {attempts: 3, on: [failed, transient]}`"),
        );
    }
}

/// A ratio such as `adaptive`, which is that of the input media, in a shot that has none.
fn ratios_without_media(
    workflow: &Workflow,
    requests: &Requests<'_>,
    cx: &ExpandCx<'_>,
    dedup: &mut DiagnosticDedup,
) {
    let follows_media = |node: &Node| {
        let ratio = node.word(Word::Ratio).and_then(Value::as_str);
        ratio.is_some_and(|ratio| !ratio.contains(':')) && !takes_an_image(node, cx)
    };
    for (index, shot) in requests.shots(follows_media) {
        let of_shot = requests.nodes().iter().filter(|node| *node.shot == shot.id.value);
        let mut said = of_shot.flat_map(|node| &*node.said).filter(|said| said.word == Some(Word::Ratio));
        let field = said.next().and_then(|said| said.at.split('/').nth(1)).unwrap_or_default();
        let set = |name| entry(workflow, shot, name).map(|(entry, _)| entry);
        let written = set(Word::Ratio.as_str()).filter(|entry| !entry.value.is_null()).or_else(|| set(field));
        let ratio = written.and_then(|entry| entry.value.text()).filter(|text| !has_template(text));
        let ratio = ratio.map_or_else(|| "this ratio".to_owned(), |ratio| format!("`{ratio}`"));
        let message = format!("{ratio} is that of the input media, and there are none");
        dedup.add_of_shot(
            index,
            Diagnostic::warning("ratio-unstated", written.map_or(shot.id.span, Entry::span), message)
                .other(shot.id.span, "this shot has no image and no video")
                .help("state the shape: `ratio: \"16:9\"`"),
        );
    }
}

/// The requests, grouped by shot.
pub(super) struct Requests<'a> {
    workflow: &'a Workflow,
    nodes: &'a [Node],
}

impl<'a> Requests<'a> {
    fn new(workflow: &'a Workflow, nodes: &'a [Node]) -> Self {
        Self { workflow, nodes }
    }

    pub(super) fn nodes(&self) -> &'a [Node] {
        self.nodes
    }

    /// The shots with their indexes, in file order, with an instance that satisfies the predicate.
    pub(super) fn shots(&self, is: impl Fn(&Node) -> bool) -> impl Iterator<Item = (usize, &'a Shot)> {
        let ids: HashSet<&str> = self.nodes.iter().filter(|node| is(node)).map(|node| &*node.shot).collect();
        let shots = self.workflow.shots.iter().enumerate();
        shots.filter(move |(_, shot)| ids.contains(shot.id.value.as_str()))
    }
}

/// Whether a request leaves a word to the service that its model takes.
fn is_left_open(node: &Node, word: Word, cx: &ExpandCx<'_>) -> bool {
    let model = cx.of_node(node).contract.model(&node.model);
    model.is_some_and(|model| model.inputs.get(word).is_some() && node.word(word).is_none())
}

/// Whether a request has an image or video from which the service can derive the aspect ratio.
fn takes_an_image(node: &Node, cx: &ExpandCx<'_>) -> bool {
    let contract = cx.of_node(node).contract;
    let Some(model) = contract.model(&node.model) else { return false };
    let media = [Word::FirstFrame, Word::LastFrame, Word::ReferenceImage, Word::ReferenceVideo];
    let mut places = media.into_iter().filter_map(|word| model.inputs.get(word)).flat_map(Placement::places);
    places.any(|at| {
        let at = at.as_str();
        node.request.pointer(at.strip_suffix("/-").unwrap_or(at)).is_some()
    }) || contract
        .fields(&model.family)
        .iter()
        .any(|field| field.media.is_some() && node.request.contains_key(&field.name))
}

/// Whether the file sets a field to `null` explicitly.
fn says_null(workflow: &Workflow, shot: &Shot, name: &str) -> bool {
    entry(workflow, shot, name).is_some_and(|(entry, _)| entry.value.is_null())
}
