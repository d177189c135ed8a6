//! The second phase: from what the file lists to [`Instances`]: every cell and take as a complete request, rendered,
//! typed, and checked against the contract.
//!
//! The order of the work: parameters; who uses whom (rings and unknown names end here); cells, inherited along
//! chains; which instances are left out; what each begins and ends on; requests. Whatever is wrong is reported and the
//! rest goes on, and nothing is reported again because something it rests on is wrong.

mod address;
mod axes;
mod check;
mod fan;
mod film;
mod frames;
mod inherit;
mod interned;
mod links;
mod lower;
mod media;
mod params;
mod paths;
mod picks;
mod place;
mod recipe;
mod request;
mod retry;
mod tally;
mod unfanned;
mod uses;
mod warn;

use std::sync::Arc;

use contract::Contract;

use self::fan::{Draft, Fan};
use self::tally::Tally;
use crate::Options;
use crate::diagnostic::{Diagnostic, Problems};
use crate::files::Files;
use crate::limits;
use crate::plan::{Film, Node, NodeIx, Place};
use crate::source::{Source, Span};
use crate::syntax::Workflow;
use crate::template::{self, Scope, Templates};
use crate::yaml::YamlValue;

/// All instances of a workflow in file order, not yet sealed into a plan.
#[derive(Clone, Debug)]
pub struct Instances {
    /// The workflow's name.
    pub(crate) name: String,
    /// The instances; their `occurrence` is not counted yet.
    pub(crate) nodes: Vec<Node>,
    /// Who comes before whom without giving it a frame.
    pub(crate) order: Vec<(NodeIx, NodeIx)>,
    /// The films.
    pub(crate) films: Vec<Film>,
}

impl Instances {
    /// The instances in file order: shots as listed, then cells, then takes.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

/// What expansion works with.
pub(crate) struct Cx<'w> {
    pub(crate) source: &'w Source,
    pub(crate) contract: &'w Contract,
    pub(crate) files: &'w dyn Files,
    pub(crate) options: &'w Options,
    pub(crate) templates: Templates<'w>,
    /// The source's name, for all places.
    pub(crate) file: Arc<str>,
}

impl Cx<'_> {
    fn place(&self, span: Span) -> Place {
        let position = self.source.position(span.start());
        Place { file: Arc::clone(&self.file), line: position.line, column: position.column }
    }
}

/// Expands a workflow. What comes back is whole only where no problem was found.
pub(crate) fn expand<'w>(workflow: &'w Workflow, cx: &Cx<'w>, problems: &mut Problems) -> Instances {
    let params = params::resolve(workflow, cx, problems);
    request::check_defaults(workflow, cx, problems);
    let links = links::find(workflow, problems);
    let fan = fan::fan(workflow, &links, &params, cx, problems);
    let mut tally = Tally::default();

    let included: Vec<bool> =
        fan.drafts.iter().map(|draft| included(workflow, &fan, draft, &params, cx, problems)).collect();
    let stage = address::Stage::new(workflow, &fan, &included);
    let mut media = frames::Frames::new(&stage);
    let frames: Vec<Vec<frames::FrameUse>> = fan
        .drafts
        .iter()
        .enumerate()
        .map(|(at, draft)| {
            if !included[at] || problems.full() {
                return Vec::new();
            }
            media.of(at, &scope(&fan, draft, &params), cx, &mut tally, problems)
        })
        .collect();
    let continued = frames::continued(&frames, &fan);

    let mut recipes = recipe::Recipes::new(workflow);
    let mut nodes = Vec::with_capacity(fan.drafts.len());
    let mut failing = vec![0_usize; workflow.shots.len()];
    for (at, draft) in fan.drafts.iter().enumerate() {
        if !included[at] || problems.full() {
            continue;
        }
        if failing[draft.shot] >= limits::MAX_FAILING_INSTANCES {
            tally.cut_short();
            continue;
        }
        let found = tally.total();
        let work = request::Work {
            workflow,
            draft,
            fanned: fan.of(draft),
            cell: fan.cell(draft),
            scope: scope(&fan, draft, &params),
            frames: &frames[at],
            continued: continued[at],
            stage: &stage,
        };
        let node = recipes.node(&work, cx, &mut tally, problems);
        if node.is_none() || tally.total() > found {
            failing[draft.shot] += 1;
        }
        nodes.extend(node);
    }
    for (shot, fanned) in workflow.shots.iter().zip(&fan.shots) {
        if fanned.is_none() {
            unfanned::check(workflow, shot, cx, problems);
        }
    }
    let order = stage.needs(&mut tally);
    tally.flush(&fan, problems);
    let films = film::films(workflow, &stage, &params, cx, problems);
    if fan.drafts.is_empty() && !workflow.shots.is_empty() && !problems.any() {
        problems.error("no-shots", workflow.shots[0].id.span, "no shot is left to make");
    }
    // Beside errors warnings would mislead: what is misspelt in one place is unused in another.
    if !problems.any() {
        warn::all(workflow, &fan, &links, &nodes, cx, problems);
    }
    Instances { name: workflow.name.value.clone(), nodes, order, films }
}

/// The names that an instance's templates can use.
fn scope(fan: &Fan<'_>, draft: &Draft, params: &Scope) -> Scope {
    let axes = &fan.cell(draft).values;
    let axes = axes.iter().map(|(axis, value)| (axis.as_str(), template::from_json(&value.value)));
    let shot = template::Value::from(fan.of(draft).shot.id.value.as_str());
    params.with(axes.chain([("shot", shot), ("take", draft.take.unwrap_or(1).into())]))
}

/// Whether `when` lets an instance be made.
fn included<'w>(
    workflow: &'w Workflow,
    fan: &Fan<'w>,
    draft: &Draft,
    params: &Scope,
    cx: &Cx<'w>,
    problems: &mut Problems,
) -> bool {
    let Some(when) = &workflow.shots[draft.shot].when else { return true };
    let value = match &when.value.value {
        YamlValue::Bool(truth) => return *truth,
        YamlValue::Text(text) => {
            match cx.templates.evaluate(text, when.value.span, &scope(fan, draft, params), problems) {
                Some(value) => value,
                None => return true,
            }
        }
        _ => when.value.to_json(),
    };
    value.as_bool().unwrap_or_else(|| {
        problems.push(
            Diagnostic::error("wrong-type", when.span(), "`when` is true or false")
                .label(format!("this comes out as {}", shortened(&value.to_string())))
                .help("write a comparison, such as `when: look == 'noir'`"),
        );
        true
    })
}

/// Text cut to what fits beside a snippet.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.to_owned();
    }
    text.chars().take(57).chain("…".chars()).collect()
}
