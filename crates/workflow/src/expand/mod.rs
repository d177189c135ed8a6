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
mod context;
mod dedup;
mod dialogue;
mod equal_requests;
mod expansion;
mod fields;
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
mod picks;
mod place;
mod price_inputs;
mod prompt_lints;
mod provenance;
mod recovery;
mod reference_errors;
mod references;
mod request;
mod request_builder;
mod request_media;
mod request_size;
mod request_template;
mod resolve;
mod retry;
mod said;
mod service;
mod structure;
mod text_lints;
mod urls;
mod used_axes;
mod when_lints;

pub(crate) use self::context::{ExpandCx, SharedCx};
use self::dedup::DiagnosticDedup;
use self::expansion::{Expansion, Instance};
use self::params::Params;
use self::references::RefGraph;
pub(crate) use self::structure::read as structure;
use crate::diagnostic::{Diagnostic, Problems, shortened};
use crate::limits;
use crate::plan::{Film, Node, NodeIx, PickGroup};
use crate::syntax::Workflow;
use crate::template::{self, Scope};
use crate::yaml::YamlValue;

/// All instances of a workflow in file order, not yet sealed into a plan.
#[derive(Clone, Debug)]
pub struct Instances {
    pub(crate) name: String,
    pub(crate) nodes: Vec<Node>,
    /// Ordering edges of `needs`: from, to.
    pub(crate) order: Vec<(NodeIx, NodeIx)>,
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
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
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

    let mut builder = request::NodeBuilder::new();
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
        let icx = request_builder::InstanceCx {
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
        lints::run(workflow, &expansion, &nodes, cx, problems);
        cast.report_unused(&free_variables::names(workflow), problems);
    }
    let picks = picks::groups(&expansion, &resolver, cx);
    Instances { name: workflow.name.value.clone(), nodes, order, films, picks }
}

/// The variables of an instance's templates.
fn scope(expansion: &Expansion<'_>, instance: &Instance, params: &Params) -> Scope {
    let axes = axes::values(expansion.cell_of(instance));
    let expanded = expansion.shot_of(instance);
    let (shot, take) = (expanded.shot, expanded.render_number(instance.cell, instance.take));
    let step = shot.step.as_ref().map(|step| (crate::syntax::STEP, step.number.into()));
    let shot = template::Value::from(shot.id.value.as_str());
    let params = params.for_shot(expansion.shot_of(instance).shot);
    params.with(axes.chain([("shot", shot), ("take", take.into())]).chain(step))
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
    let help = "write a comparison, such as `when: look == 'noir'`";
    value.as_bool().unwrap_or_else(|| {
        problems.push(
            Diagnostic::error("wrong-type", when.span(), "`when` is true or false")
                .label(format!("this comes out as {}", shortened(&value.to_string())))
                .help(help),
        );
        true
    })
}
