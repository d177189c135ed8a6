//! From a file's name to a sealed plan, or the reasons why not.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use contract::Contract;
use serde_json::json;
use workflow::plan::Plan;
use workflow::{CheckOutcome, DirFiles, Options, ParamFile, Report};

use crate::args::{Format, OverrideArgs};
use crate::exit::Exit;
use crate::picks::PickStore;
use crate::project_paths::ProjectPaths;
use crate::terminal;

/// The largest workflow file that is read. What is larger is named by the parser's own diagnostic.
pub(crate) const MAX_FILE_BYTES: u64 = workflow::limits::MAX_FILE_BYTES as u64;

/// Why there is no plan. Nothing was submitted and nothing written.
#[derive(Debug)]
pub(crate) enum LoadError {
    /// The file cannot be read.
    Unreadable(String),
    /// The file has problems.
    Report(Box<Report>),
}

/// Reads, checks and compiles a workflow file; warnings go to standard error.
pub(crate) fn load(file: &Path, overrides: &OverrideArgs) -> Result<Plan, LoadError> {
    let CheckOutcome { plan, report } = check(file, overrides)?;
    let refused = |report| LoadError::Report(Box::new(report));
    match plan {
        None => Err(refused(report)),
        Some(plan) => {
            if report.warnings() > 0 {
                refused(report).print();
            }
            Ok(plan)
        }
    }
}

/// Reads and checks a workflow file: its plan, where it has one, and all that there is to say about it.
pub(crate) fn check(file: &Path, overrides: &OverrideArgs) -> Result<CheckOutcome, LoadError> {
    let paths = ProjectPaths::for_workflow(file).map_err(unreadable)?;
    let text = read(file).map_err(unreadable)?;
    let options = options(file, overrides)?;
    let name = file.display().to_string();
    Ok(workflow::check(&text, &name, &DirFiles::new(&paths.folder), &options, Contract::embedded()))
}

/// What the compiler is told besides the file: what the user gives for this time, and what was picked.
pub(crate) fn options(file: &Path, overrides: &OverrideArgs) -> Result<Options, LoadError> {
    let paths = ProjectPaths::for_workflow(file).map_err(unreadable)?;
    let picks = PickStore::new(file, &paths).read().map_err(LoadError::Unreadable)?;
    let param_file = |path: &PathBuf| {
        let why = |why: String| LoadError::Unreadable(format!("cannot read the parameters: {why}"));
        let bytes = read(path).map_err(|error| why(error.to_string()))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(why(format!(
                "{} is larger than {} MiB",
                path.display(),
                MAX_FILE_BYTES / 1024 / 1024
            )));
        }
        let text =
            String::from_utf8(bytes).map_err(|_| why(format!("{} is not UTF-8 text", path.display())))?;
        Ok(ParamFile { name: path.display().to_string(), text })
    };
    Ok(Options {
        params: overrides.params.clone(),
        param_files: overrides.param_files.iter().map(param_file).collect::<Result<_, _>>()?,
        axes: overrides.axes.clone(),
        picks,
        ..Options::default()
    })
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn unreadable(error: std::io::Error) -> LoadError {
    LoadError::Unreadable(format!("cannot read the workflow: {error}"))
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs_err::File::open(file).and_then(|open| open.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))?;
    Ok(bytes)
}

impl LoadError {
    /// Says why, for people.
    pub(crate) fn print(&self) {
        match self {
            Self::Unreadable(why) => crate::commands::print_error(why),
            Self::Report(report) => err!("{}", report.render(terminal::has_color())),
        }
    }

    /// Says why, in the form that was asked for, and how to end.
    pub(crate) fn exit(&self, format: Format) -> Exit {
        match (format, self) {
            (Format::Text, _) | (_, Self::Unreadable(_)) => self.print(),
            (Format::Json | Format::Ndjson, Self::Report(report)) => {
                outln!("{}", json!({ "diagnostics": report.to_json() }));
            }
        }
        Exit::InvalidInput
    }
}
