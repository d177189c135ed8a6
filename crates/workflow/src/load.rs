//! The compiler's phases in order: parse, include, expand, seal.

use std::cell::RefCell;

use contract::Contract;

use crate::advice;
use crate::diagnostic::{Diagnostic, Problems, Report};
use crate::expand::{self, ExpandCx, Instances, SharedCx};
use crate::files::Files;
use crate::include;
use crate::limits;
use crate::options::Options;
use crate::plan::Plan;
use crate::seal::seal;
use crate::source::{Source, Span};
use crate::syntax::{self, Shot, Workflow};
use crate::template::{Templates, environment};
use crate::text_file::{read_text, too_large};
use crate::work::WorkBudget;

/// The result of checking a file.
#[derive(Clone, Debug)]
pub struct CheckOutcome {
    /// The plan, where the file has no errors.
    pub plan: Option<Plan>,
    pub report: Report,
}

/// Compiles a workflow file to its plan.
///
/// `file_name` names the file in messages; `files` reads the files that the workflow refers to.
///
/// # Errors
/// Every problem in the file, in the order of their spans.
pub fn load(
    bytes: &[u8],
    file_name: &str,
    files: &dyn Files,
    options: &Options,
    contract: &Contract,
) -> Result<Plan, Report> {
    let CheckOutcome { plan, report } = check(bytes, file_name, files, options, contract);
    plan.ok_or(report)
}

/// Like [`load`], with the warnings where there is a plan.
pub fn check(
    bytes: &[u8],
    file_name: &str,
    files: &dyn Files,
    options: &Options,
    contract: &Contract,
) -> CheckOutcome {
    let mut problems = Problems::default();
    options.allow.iter().for_each(|code| problems.allow(code));
    let mut source = read_text(bytes, file_name, &mut problems);
    let plan =
        if problems.any() { None } else { compile(&mut source, files, options, contract, &mut problems) };
    let plan = if problems.any() { None } else { plan };
    let (diagnostics, unlisted) = problems.into_sorted();
    CheckOutcome { plan, report: Report { source, diagnostics, unlisted } }
}

/// The first phase: the file's keys and shapes, every value with its span. Included files are added to `source`.
///
/// # Errors
/// Every problem that was found.
pub fn parse(source: &mut Source, files: &dyn Files, options: &Options) -> Result<Workflow, Vec<Diagnostic>> {
    let mut problems = Problems::default();
    finish(parse_all(source, files, options, &mut problems), problems)
}

/// The second phase: every instance as a complete request, checked against the contract.
///
/// # Errors
/// Every problem that was found.
pub fn expand(
    workflow: &Workflow,
    source: &Source,
    files: &dyn Files,
    options: &Options,
    contract: &Contract,
) -> Result<Instances, Vec<Diagnostic>> {
    let mut problems = Problems::default();
    let instances = expand_all(workflow, source, files, options, contract, &mut problems);
    finish(Some(instances), problems)
}

fn finish<T>(result: Option<T>, problems: Problems) -> Result<T, Vec<Diagnostic>> {
    match result {
        Some(result) if !problems.any() => Ok(result),
        _ => Err(problems.into_sorted().0),
    }
}

fn parse_all(
    source: &mut Source,
    files: &dyn Files,
    options: &Options,
    problems: &mut Problems,
) -> Option<Workflow> {
    if source.text().len() > limits::MAX_FILE_BYTES {
        problems.push(too_large());
        return None;
    }
    let tree = advice::read(source, problems)?;
    syntax::check_secrets(&tree, problems);
    let mut workflow = syntax::read(&tree, source, problems)?;
    workflow.text_warnings = advice::text_warnings(&tree, source);
    include::add(&mut workflow, source, files, problems);
    workflow.param_overrides =
        include::param_files(&options.param_files, source, &mut workflow.text_warnings, problems);
    let is_structured = |shot: &Shot| shot.group_entry.is_some() || shot.repeat_entry.is_some();
    if workflow.shots.iter().any(is_structured) {
        let structure = with_cx(&workflow, source, files, options, Contract::embedded(), |workflow, cx| {
            expand::structure(workflow, cx, problems)
        });
        for (shot, (group, steps)) in workflow.shots.iter_mut().zip(structure) {
            (shot.group_name, shot.repeat) = (group, steps);
        }
    }
    syntax::resolve_groups(&mut workflow, problems);
    syntax::apply_defaults(&mut workflow, problems);
    syntax::apply_repeats(&mut workflow, problems)?;
    Some(workflow)
}

fn expand_all(
    workflow: &Workflow,
    source: &Source,
    files: &dyn Files,
    options: &Options,
    contract: &Contract,
    problems: &mut Problems,
) -> Instances {
    with_cx(workflow, source, files, options, contract, |workflow, cx| expand::expand(workflow, cx, problems))
}

fn with_cx<T>(
    workflow: &Workflow,
    source: &Source,
    files: &dyn Files,
    options: &Options,
    contract: &Contract,
    run: impl for<'w> FnOnce(&'w Workflow, &ExpandCx<'w>) -> T,
) -> T {
    let env = environment();
    let file = source.name().into();
    let shared = SharedCx {
        named: workflow.services().filter_map(|name| Some(&*options.services.get(name)?.contract)).collect(),
        inspected: RefCell::default(),
        file_lookups: std::cell::Cell::default(),
        source,
        files,
        options,
        templates: Templates::new(&env, source),
        file,
        work: WorkBudget::default(),
    };
    run(workflow, &ExpandCx::new(&shared, contract))
}

fn compile(
    source: &mut Source,
    files: &dyn Files,
    options: &Options,
    contract: &Contract,
    problems: &mut Problems,
) -> Option<Plan> {
    let workflow = parse_all(source, files, options, problems)?;
    let source = &*source;
    let instances = expand_all(&workflow, source, files, options, contract, problems);
    if problems.any() {
        return None;
    }
    match seal(instances) {
        Ok(plan) => Some(plan.with_aliases(&options.services)),
        Err(broken) => {
            problems.error(
                "invalid-plan",
                Span::default(),
                format!("the plan does not hold together: {broken}"),
            );
            None
        }
    }
}
