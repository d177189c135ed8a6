//! The second phase, expansion: from the parsed [`Workflow`] to [`Instances`], one complete request for every cell and take,
//! rendered, typed, and checked against the contract.
//!
//! Steps: parameters; the reference graph of the shots (cycles and unknown names are reported here); cells, inherited along
//! chains; exclusion by `when`; media; requests. Errors do not stop expansion: each step reports its own and continues, and
//! an error that follows from a reported one is not reported.

mod axes;
mod cast;
mod cast_media;
mod cast_prompt;
mod check;
mod dedup;
mod dialogue;
mod field_messages;
mod file_names;
mod film;
mod film_clips;
mod film_edit;
mod film_files;
mod film_fit;
mod film_sound;
mod frames;
mod free_variables;
mod inherit;
mod instances;
mod interner;
mod lints;
mod local_paths;
mod lower;
mod media;
mod member_lints;
mod param_axes;
mod params;
mod pick_key;
mod pick_suggestion;
mod picks;
mod prompt_lints;
mod provenance;
mod recovery;
mod reference_errors;
mod references;
mod request;
mod request_media;
mod request_size;
mod request_template;
mod resolve;
mod retry;
mod service_lints;
mod text_lints;
mod when_lints;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::Contract;

use self::dedup::DiagnosticDedup;
use self::instances::{Expansion, Instance};
use self::params::Params;
pub use self::picks::Picks;
use self::references::RefGraph;
use crate::Options;
use crate::diagnostic::{Diagnostic, Problems};
use crate::files::Files;
use crate::limits;
use crate::media_gate::{InspectionError, MediaGateError, MediaInfo};
use crate::plan::{Film, Location, Node, NodeIx, PickGroup};
use crate::source::{Source, Span};
use crate::syntax::Workflow;
use crate::template::{self, Scope, Templates};
use crate::work::WorkBudget;
use crate::yaml::YamlValue;

/// All instances of a workflow in file order, not yet sealed into a plan.
#[derive(Clone, Debug)]
pub struct Instances {
    /// The workflow's name.
    pub(crate) name: String,
    /// The instances; their `occurrence` is not counted yet.
    pub(crate) nodes: Vec<Node>,
    /// Ordering edges of `needs`: from, to.
    pub(crate) order: Vec<(NodeIx, NodeIx)>,
    /// The films.
    pub(crate) films: Vec<Film>,
    /// What there is to pick from.
    pub(crate) picks: Vec<PickGroup>,
}

impl Instances {
    fn none(workflow: &Workflow) -> Self {
        Self {
            name: workflow.name.value.clone(),
            nodes: Vec::new(),
            order: Vec::new(),
            films: Vec::new(),
            picks: Vec::new(),
        }
    }

    /// The instances in file order: shots as listed, then cells, then takes.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

/// The context of expansion.
pub(crate) struct ExpandCx<'w> {
    pub(crate) source: &'w Source,
    pub(crate) contract: &'w Contract,
    pub(crate) files: &'w dyn Files,
    pub(crate) options: &'w Options,
    pub(crate) templates: Templates<'w>,
    /// The source's name, shared by all locations.
    pub(crate) file: Arc<str>,
    pub(crate) work: WorkBudget,
    /// The local files that are sent inside requests, as far as they were inspected.
    pub(crate) inspected: RefCell<BTreeMap<PathBuf, MediaInfo>>,
    /// For how many names of missing files others were looked for.
    pub(crate) file_lookups: Cell<usize>,
}

impl ExpandCx<'_> {
    /// Inspects a local file that is sent inside requests, or of which a frame is.
    fn inspect_file(
        &self,
        path: &Path,
        bytes: &[u8],
        inspect: impl FnOnce(&[u8]) -> Result<MediaInfo, InspectionError>,
    ) -> Result<MediaInfo, MediaGateError> {
        let info = self.work.inspect_medium(bytes.len() as u64, || inspect(bytes))?;
        self.inspected.borrow_mut().insert(path.to_owned(), info);
        Ok(info)
    }

    fn location(&self, span: Span) -> Location {
        let position = self.source.position(span.start());
        Location { file: Arc::clone(&self.file), line: position.line, column: position.column }
    }
}

/// Expands a workflow. The result is complete only if no problem was pushed.
pub(crate) fn expand<'w>(workflow: &'w Workflow, cx: &ExpandCx<'w>, problems: &mut Problems) -> Instances {
    let params = params::resolve(workflow, cx, problems);
    request_template::check_defaults(workflow, cx, problems);
    if problems.full() {
        return Instances::none(workflow);
    }
    let refs = RefGraph::new(workflow, problems);
    let expansion = instances::enumerate(workflow, &refs, &params, cx, problems);
    let mut dedup = DiagnosticDedup::default();

    let included: Vec<bool> = expansion
        .instances
        .iter()
        .map(|instance| included(workflow, &expansion, instance, &params, cx, problems))
        .collect();
    let resolver = resolve::RefResolver::new(workflow, &expansion, &included, &cx.work);
    let mut media_resolver = frames::MediaResolver::new(&resolver);
    let cast = cast::Cast::new(workflow, problems);
    let mut listed: Vec<cast::CastList> = Vec::with_capacity(expansion.instances.len());
    let media: Vec<Vec<frames::MediumUse>> = expansion
        .instances
        .iter()
        .enumerate()
        .map(|(index, instance)| {
            if !included[index] || problems.full() || dedup.is_full() || cx.work.is_exhausted() {
                listed.push(cast::CastList::default());
                return Vec::new();
            }
            let scope = scope(&expansion, instance, &params);
            let shown = cast.listed(instance, &scope, cx, &mut dedup, problems);
            let icx = frames::MediaCx { index, scope: &scope, cast: &cast, listed: &shown, cx };
            let media = media_resolver.media_of(&icx, &mut dedup, problems);
            listed.push(shown);
            media
        })
        .collect();
    let continued = frames::continued(&media, &expansion);

    let mut builder = request::NodeBuilder::new(cx);
    let mut nodes = Vec::with_capacity(expansion.instances.len());
    let mut failing = vec![0_usize; workflow.shots.len()];
    for (index, instance) in expansion.instances.iter().enumerate() {
        if !included[index] || problems.full() || dedup.is_full() || builder.is_full() {
            continue;
        }
        if failing[instance.shot] >= limits::MAX_FAILING_INSTANCES {
            dedup.mark_truncated();
            continue;
        }
        let reported = dedup.total();
        let scope = scope(&expansion, instance, &params);
        let Some((cast, scope)) = cast.instance(instance, &listed[index], scope, cx, problems) else {
            failing[instance.shot] += 1;
            continue;
        };
        let icx = request::InstanceCx {
            workflow,
            instance,
            expanded: expansion.shot_of(instance),
            cell: expansion.cell_of(instance),
            scope,
            cast,
            media: &media[index],
            is_continued: continued[index],
            resolver: &resolver,
        };
        let node = builder.node(&icx, cx, &mut dedup, problems);
        if node.is_none() || dedup.total() > reported {
            failing[instance.shot] += 1;
        }
        nodes.extend(node);
    }
    for (shot, expanded) in workflow.shots.iter().zip(&expansion.shots) {
        if expanded.is_none() && !problems.full() {
            recovery::check(workflow, shot, cx, problems);
        }
    }
    let order = resolver.order_edges(&mut dedup);
    dedup.flush(&expansion, problems);
    let films = film::films(workflow, &resolver, &nodes, &params.file, cx, problems);
    if expansion.instances.is_empty() && !workflow.shots.is_empty() && !problems.any() {
        problems.error("no-shots", workflow.shots[0].id.span, "no shot is left to render");
    }
    // Next to errors, warnings would mislead: a misspelled name is unused elsewhere.
    if !problems.any() {
        lints::run(workflow, &expansion, &refs, &nodes, &params, cx, problems);
        cast.report_unused(&free_variables::names(workflow), problems);
    }
    let picks = picks::groups(&expansion, &resolver, cx);
    Instances { name: workflow.name.value.clone(), nodes, order, films, picks }
}

/// The variables of an instance's templates.
fn scope(expansion: &Expansion<'_>, instance: &Instance, params: &Params) -> Scope {
    let axes = &expansion.cell_of(instance).values;
    let axes = axes.iter().map(|(axis, value)| (&**axis, template::axis_value(&value.value)));
    let shot = expansion.shot_of(instance).shot;
    let step = shot.step.as_ref().map(|step| (crate::syntax::STEP, step.number.into()));
    let shot = template::Value::from(shot.id.value.as_str());
    let params = params.for_shot(expansion.shot_of(instance).shot);
    params.with(axes.chain([("shot", shot), ("take", instance.take.unwrap_or(1).into())]).chain(step))
}

/// Whether `when` includes an instance.
fn included<'w>(
    workflow: &'w Workflow,
    expansion: &Expansion<'w>,
    instance: &Instance,
    params: &Params,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> bool {
    let Some(when) = &workflow.shots[instance.shot].when else { return true };
    if problems.full() {
        return true;
    }
    let value = match &when.value.value {
        YamlValue::Bool(truth) => return *truth,
        YamlValue::Text(text) => {
            match cx.templates.evaluate(text, when.value.span, &scope(expansion, instance, params), problems)
            {
                Some(value) => value,
                None => return true,
            }
        }
        _ => when.value.to_json(),
    };
    let help = match when.value.text() {
        Some(text) if text.contains("${{") => "remove the `$`: a template is `{{ name }}`",
        _ => "write a comparison, such as `when: look == 'noir'`",
    };
    value.as_bool().unwrap_or_else(|| {
        problems.push(
            Diagnostic::error("wrong-type", when.span(), "`when` is true or false")
                .label(format!("this comes out as {}", shortened(&value.to_string())))
                .help(help),
        );
        true
    })
}

/// Text truncated to 60 characters, for labels.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.to_owned();
    }
    text.chars().take(57).chain("…".chars()).collect()
}
