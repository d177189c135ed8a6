//! The way through the phases.

use std::collections::BTreeMap;

use contract::Contract;

use crate::diagnostic::{Diagnostic, Problems, Report};
use crate::expand::{self, ExpandCx, Instances};
use crate::files::Files;
use crate::include;
use crate::limits;
use crate::plan::Plan;
use crate::seal::seal;
use crate::source::{Source, Span};
use crate::syntax::{self, Workflow};
use crate::template::{Templates, environment};
use crate::yaml;

/// What the caller decides.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values for parameters, in the order given; of several for one name the last counts. Each is text, read as the
    /// parameter's type says; where it has none, a number, true or false where it reads as one.
    pub params: Vec<(String, String)>,
    /// Files of values for parameters; `params` goes before them, and later ones go before earlier ones.
    pub param_files: Vec<ParamFile>,
    /// Axes to add to the workflow's matrix, or to give other values wherever they stand: name, and values between
    /// commas.
    pub axes: Vec<(String, String)>,
    /// Takes that were picked outside of the file, by the name of the shot or instance: `lamp`, `lamp@look=noir`. A `pick`
    /// in the file goes before them.
    pub picks: BTreeMap<String, u32>,
    /// Whether the workflow may name files outside its own folder.
    pub allow_outside: bool,
}

/// A file of values for parameters: a YAML (or JSON) map of names to values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamFile {
    /// The name by which the user knows it.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What came of a file.
#[derive(Clone, Debug)]
pub struct CheckOutcome {
    /// The plan, where the file has no errors.
    pub plan: Option<Plan>,
    /// Errors and warnings.
    pub report: Report,
}

/// Reads a workflow file to its plan, or says everything that is wrong with it.
///
/// `file_name` is the name by which the user knows the file; `files` reads what the workflow names, relative to its
/// folder.
///
/// # Errors
/// Every problem that was found, in the order of their places.
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

/// Like [`load`], but keeps what was found also where there is a plan.
#[must_use]
pub fn check(
    bytes: &[u8],
    file_name: &str,
    files: &dyn Files,
    options: &Options,
    contract: &Contract,
) -> CheckOutcome {
    let mut problems = Problems::default();
    let mut source = read_text(bytes, file_name, &mut problems);
    let plan =
        if problems.any() { None } else { compile(&mut source, files, options, contract, &mut problems) };
    let plan = if problems.any() { None } else { plan };
    let (diagnostics, unlisted) = problems.into_sorted();
    CheckOutcome { plan, report: Report { source, diagnostics, unlisted } }
}

/// The first phase: words known, every value with its place. The texts of files that the workflow includes are added to `source`.
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
    let tree = yaml::read(source, problems)?;
    let mut workflow = syntax::read(&tree, source, problems)?;
    include::add(&mut workflow, source, files, options, problems);
    workflow.param_overrides = include::param_files(&options.param_files, source, problems);
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
    let env = environment();
    let file = source.name().into();
    let cx = ExpandCx { source, contract, files, options, templates: Templates::new(&env, source), file };
    expand::expand(workflow, &cx, problems)
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
        Ok(plan) => Some(plan),
        Err(broken) => {
            problems.error(
                "broken-seal",
                Span::default(),
                format!("the plan does not hold together: {broken}"),
            );
            None
        }
    }
}

pub(crate) fn read_text(bytes: &[u8], file_name: &str, problems: &mut Problems) -> Source {
    if bytes.len() > limits::MAX_FILE_BYTES {
        problems.push(too_large());
        // The beginning is enough to show the place.
        let start = String::from_utf8_lossy(&bytes[..1024]).into_owned();
        return Source::new(file_name, start);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Source::new(file_name, text),
        Err(error) => {
            let at = error.valid_up_to();
            let wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
            let byte = bytes.get(at).copied().unwrap_or_default();
            let diagnostic = Diagnostic::error(
                "not-utf8",
                Span::new(at, at + '\u{fffd}'.len_utf8()),
                "this file is not UTF-8 text",
            )
            .label(format!("the byte {byte:#04x} begins no character"));
            problems.push(diagnostic.help(if wide {
                "it looks like UTF-16: save it as UTF-8"
            } else {
                "save it as UTF-8"
            }));
            Source::new(file_name, String::from_utf8_lossy(bytes))
        }
    }
}

fn too_large() -> Diagnostic {
    Diagnostic::error(
        "file-too-large",
        Span::default(),
        format!(
            "this file is larger than {} MiB, the most a workflow has",
            limits::MAX_FILE_BYTES / 1024 / 1024
        ),
    )
    .help("long tables belong into `params` of several workflows, media into files of their own")
}
