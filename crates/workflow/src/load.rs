//! The compiler's phases in order: parse, include, expand, seal.

use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::sync::Arc;

use contract::Contract;

use crate::diagnostic::{Diagnostic, Problems, Report, check_secrets};
use crate::encoding;
use crate::expand::Picks;
use crate::expand::{self, ExpandCx, Instances};
use crate::files::Files;
use crate::import;
use crate::include;
use crate::limits;
use crate::plan::Plan;
use crate::seal::seal;
use crate::source::{Source, Span};
use crate::syntax::{self, Workflow};
use crate::template::{TemplateWork, Templates, environment};
use crate::work::WorkBudget;
use crate::yaml;

/// The caller's options.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values for parameters; the last one for a name counts. Each is text, parsed by the parameter's type; without a type, as
    /// a number or boolean where it reads as one.
    pub params: Vec<(String, String)>,
    /// Parameter files. `params` overrides them, and later files override earlier ones.
    pub param_files: Vec<ParamFile>,
    /// Axis overrides: a name, and values separated by commas. They replace the values of the axis wherever it is, or add it to
    /// the workflow's matrix.
    pub axes: Vec<(String, String)>,
    /// Recorded picks. A `pick` in the file overrides them.
    pub picks: Picks,
    /// What the service that a run would use takes, where that is known.
    pub service: Option<ServiceLimits>,
}

/// Limits of a service that the API reference leaves open (spec 8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceLimits {
    /// The service, as messages name it: `the embedded service`.
    pub service: &'static str,
    /// Characters of a prompt.
    pub text_chars: usize,
    /// Media of one request.
    pub media_items: usize,
    /// Pixels of each side of a picture or a video.
    pub media_sides: RangeInclusive<u32>,
    /// Whether it takes videos that are decoded without other programs only: H.264.
    pub needs_native_video: bool,
}

/// A parameter file: a YAML or JSON mapping of names to values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamFile {
    /// Its name in messages.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The result of checking a file.
#[derive(Clone, Debug)]
pub struct CheckOutcome {
    /// The plan, where the file has no errors.
    pub plan: Option<Plan>,
    /// Errors and warnings.
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
    let tree = yaml::read(source, problems)?;
    check_secrets(&tree, problems);
    let mut workflow = syntax::read(&tree, source, problems)?;
    workflow.text_warnings = yaml::text_warnings(&tree, source);
    include::add(&mut workflow, source, files, problems);
    syntax::resolve_groups(&mut workflow, problems);
    syntax::apply_defaults(&mut workflow, problems);
    syntax::apply_repeats(&mut workflow, problems)?;
    workflow.param_overrides =
        include::param_files(&options.param_files, source, &mut workflow.text_warnings, problems);
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
    let template_work = Arc::new(TemplateWork::default());
    let env = environment(&template_work);
    let file = source.name().into();
    let cx = ExpandCx {
        inspected: RefCell::default(),
        file_lookups: std::cell::Cell::default(),
        source,
        contract,
        files,
        options,
        templates: Templates::new(&env, source, template_work),
        file,
        work: WorkBudget::default(),
    };
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
                "invalid-plan",
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
        // The beginning is enough for the message.
        let start = String::from_utf8_lossy(&bytes[..1024]).into_owned();
        return Source::new(file_name, start);
    }
    match encoding::decode(bytes) {
        Ok(text) => Source::new(file_name, text),
        Err(error) => {
            let byte = bytes.get(error.offset).copied().unwrap_or_default();
            problems.push(
                Diagnostic::error(
                    "not-utf8",
                    Span::new(error.offset, error.offset + '\u{fffd}'.len_utf8()),
                    error.to_string(),
                )
                .label(format!("the byte {byte:#04x} begins no character"))
                .help("save it as UTF-8"),
            );
            Source::new(file_name, String::from_utf8_lossy(bytes))
        }
    }
}

/// Text that another program wrote: UTF-8, or UTF-16 or Windows-1252 with a warning.
pub(crate) fn read_any_text(bytes: &[u8], file_name: &str, problems: &mut Problems) -> Source {
    let Ok((text, Some(encoding))) = encoding::decode_any(bytes) else {
        return read_text(bytes, file_name, problems);
    };
    if bytes.len() > limits::MAX_FILE_BYTES {
        return read_text(bytes, file_name, problems);
    }
    let text = import::with_plain_line_ends(&text);
    let start = text.find(|c: char| !c.is_ascii()).unwrap_or_default();
    let end = start + text[start..].chars().next().map_or(0, char::len_utf8);
    problems.push(
        Diagnostic::warning(
            "other-encoding",
            Span::new(start, end),
            format!("this file is not UTF-8: it is read as {encoding}"),
        )
        .help("if letters come out wrong, save it as UTF-8; in Excel as `CSV UTF-8`"),
    );
    Source::new(file_name, text)
}

fn too_large() -> Diagnostic {
    Diagnostic::error(
        "file-too-large",
        Span::default(),
        format!(
            "this file is larger than {} MiB, the limit for a workflow",
            limits::MAX_FILE_BYTES / 1024 / 1024
        ),
    )
    .help("move tables to CSV files and media to files of their own")
}
