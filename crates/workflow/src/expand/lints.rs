//! Lints: warnings about legal workflows that are almost certainly not intended.

use std::collections::HashSet;

use contract::{Placement, Word};
use serde_json::Value;

use super::axes::axis_names;
use super::expansion::Expansion;
use super::fields::entry;
use super::{ExpandCx, free_variables, member_lints, prompt_lints, text_lints, when_lints};
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
    prompt_lints::run(workflow, &requests, problems);
    text_lints::run(workflow, cx, problems);
    text_lints::unused_defaults(workflow, nodes, cx, problems);
    member_lints::run(workflow, &requests, cx, problems);
    sweeps_without_seed(workflow, expansion, &requests, cx, problems);
    retries_with_a_seed(&requests, problems);
    let seconds: Vec<&Shot> = requests
        .shots(|node| is_left_open(node, Word::Seconds, cx))
        .filter(|shot| !says_null(workflow, shot, "seconds"))
        .collect();
    let ratio: Vec<&Shot> = requests
        .shots(|node| is_left_open(node, Word::Ratio, cx) && !takes_an_image(node, cx))
        .filter(|shot| !says_null(workflow, shot, "ratio"))
        .collect();
    left_open(
        "seconds-unstated",
        &seconds,
        "the length of this shot is left to the service",
        "set `seconds:` here or in `defaults`; `seconds: null` leaves it to the service without this warning",
        problems,
    );
    left_open(
        "ratio-unstated",
        &ratio,
        "the shape of this shot is left to the service, and there is no image that it could follow",
        "set `ratio:` here or in `defaults` (spec 2.2)",
        problems,
    );
    ratios_without_media(workflow, &requests, cx, problems);
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
    problems: &mut Problems,
) {
    let without = |node: &Node| is_left_open(node, Word::Seed, cx);
    let shots: HashSet<&str> = requests.shots(without).map(|shot| shot.id.value.as_str()).collect();
    for (shot, expanded) in workflow.shots.iter().zip(&expansion.shots) {
        let is_sweep = expanded.as_ref().is_some_and(|expanded| expanded.cells.len() > 1);
        // A shot that inherits its axes is not reported; the shot that declares them is.
        let Some(matrix) = &shot.matrix else { continue };
        if is_sweep && shots.contains(shot.id.value.as_str()) {
            problems.push(
                Diagnostic::warning("sweep-without-seed", matrix.key.span, "this sweep has no seed")
                    .label("differences between cells may come from an axis or from chance")
                    .help("set `seed: 7`, the same for all cells, or add an axis for the seed"),
            );
        }
    }
}

/// `retry` after output moderation with a fixed seed: the same request is likely to be withheld again.
fn retries_with_a_seed(requests: &Requests<'_>, problems: &mut Problems) {
    let repeats = |node: &Node| {
        node.retry > 1 && node.retry_on.contains(RetryOn::OutputModerated) && node.word(Word::Seed).is_some()
    };
    for shot in requests.shots(repeats) {
        let Some(retry) = &shot.retry else { continue };
        problems.push(
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

/// One warning for all shots that leave a field unset.
fn left_open(code: &'static str, shots: &[&Shot], message: &str, help: &str, problems: &mut Problems) {
    let Some((first, others)) = shots.split_first() else { return };
    let mut diagnostic = Diagnostic::warning(code, first.id.span, message);
    if !others.is_empty() {
        let more = others.len();
        diagnostic = diagnostic.label(format!("and of {more} more"));
    }
    problems.push(diagnostic.help(help));
}

/// A ratio such as `adaptive`, which is that of the input media, in a shot that has none.
fn ratios_without_media(
    workflow: &Workflow,
    requests: &Requests<'_>,
    cx: &ExpandCx<'_>,
    problems: &mut Problems,
) {
    let follows_media = |node: &Node| {
        let ratio = node.word(Word::Ratio).and_then(Value::as_str);
        ratio.is_some_and(|ratio| !ratio.contains(':')) && !takes_an_image(node, cx)
    };
    for shot in requests.shots(follows_media) {
        let of_shot = requests.nodes().iter().filter(|node| *node.shot == shot.id.value);
        let mut said = of_shot.flat_map(|node| &*node.said).filter(|said| said.word == Some(Word::Ratio));
        let field = said.next().and_then(|said| said.at.split('/').nth(1)).unwrap_or_default();
        let set = |name| entry(workflow, shot, name).map(|(entry, _)| entry);
        let written = set(Word::Ratio.as_str()).filter(|entry| !entry.value.is_null()).or_else(|| set(field));
        let ratio = written.and_then(|entry| entry.value.text()).filter(|text| !has_template(text));
        let ratio = ratio.map_or_else(|| "this ratio".to_owned(), |ratio| format!("`{ratio}`"));
        // A default is reported once, with the first of its shots.
        let message = format!("{ratio} is that of the input media, and there are none");
        problems.push(
            Diagnostic::warning("ratio-unstated", written.map_or(shot.id.span, Entry::span), message)
                .other(shot.id.span, "this shot has no image and no video")
                .help("state the shape: `ratio: \"16:9\"` (spec 2.2)"),
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

    /// The shots, in file order, with an instance that satisfies the predicate.
    pub(super) fn shots(&self, is: impl Fn(&Node) -> bool) -> impl Iterator<Item = &'a Shot> {
        let ids: HashSet<&str> = self.nodes.iter().filter(|node| is(node)).map(|node| &*node.shot).collect();
        self.workflow.shots.iter().filter(move |shot| ids.contains(shot.id.value.as_str()))
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
