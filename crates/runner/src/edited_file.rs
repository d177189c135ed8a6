//! A workflow file with a change, checked as a whole and not written yet.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use similar::TextDiff;
use workflow::CheckOutcome;
use workflow::edit::{EditError, set_field};
use workflow::plan::Plan;

use crate::args::{EditFields, OverrideArgs};
use crate::commands::atomic_write::atomic_write;
use crate::error::{CommandError, ErrorKind};
use crate::input_file::{self, LoadError, MAX_FILE_BYTES};
use crate::load;
use crate::project_paths::display_path;
use crate::report::sanitize;
use crate::selection::unknown_name;

/// Lines around a change in a diff.
const CONTEXT_LINES: usize = 2;

/// An edited workflow file.
#[derive(Debug)]
pub(crate) struct EditedFile {
    /// The file itself, not a link to it.
    file: PathBuf,
    old: String,
    new: String,
    /// The plan of the new text.
    pub(crate) plan: Arc<Plan>,
    /// The warnings about the new text, if there are any.
    warnings: Option<LoadError>,
}

/// Why a file cannot be edited.
#[derive(Debug)]
pub(crate) enum EditFailure {
    /// The shot or the file is not as expected.
    Command(CommandError),
    /// The edited file would be invalid.
    Load(LoadError),
}

impl From<CommandError> for EditFailure {
    fn from(error: CommandError) -> Self {
        Self::Command(error)
    }
}

/// A workflow file's text, with its digest.
pub(crate) fn read(file: &Path) -> Result<(String, String), CommandError> {
    let bytes = input_file::read(file).map_err(CommandError::invalid)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(CommandError::invalid(format!("{} is too large", display_path(file))));
    }
    let digest = engine::artifact::sha256(&bytes);
    let text = String::from_utf8(bytes)
        .map_err(|_| CommandError::invalid(format!("{} is not UTF-8 text", display_path(file))))?;
    Ok((text, digest))
}

impl EditedFile {
    /// Changes fields of a shot; with `digest`, only of the file that has it.
    pub(crate) fn new(
        file: &Path,
        overrides: &OverrideArgs,
        shot: &str,
        fields: &EditFields,
        digest: Option<&str>,
    ) -> Result<Self, EditFailure> {
        let (old, current_digest) = read(file)?;
        if digest.is_some_and(|digest| digest != current_digest) {
            return Err(changed_error(file).into());
        }
        let seed = fields.seed.as_ref().map(|seed| match seed.trim().parse::<i64>() {
            Ok(number) => Value::from(number),
            // A template.
            Err(_) => Value::from(seed.as_str()),
        });
        let values = [("prompt", fields.prompt.as_deref().map(Value::from)), ("seed", seed)];
        let mut new = old.clone();
        for (name, value) in values {
            if let Some(value) = value {
                new = set_field(&new, shot, name, &value).map_err(|error| match error {
                    // It may be in an included file.
                    EditError::NoShot { shot, help } => {
                        let shot = sanitize::line(&shot);
                        unknown_name(
                            format!("there is no shot `{shot}` in {}", display_path(file)),
                            Some(help),
                            file,
                        )
                    }
                    error => CommandError::invalid(format!("{}: {error}", display_path(file))),
                })?;
            }
        }
        Self::with_text(file, overrides, old, new)
    }

    /// A changed text of a file that was read.
    pub(crate) fn with_text(
        file: &Path,
        overrides: &OverrideArgs,
        old: String,
        new: String,
    ) -> Result<Self, EditFailure> {
        let CheckOutcome { plan, report } =
            load::check_text(new.as_bytes(), file, overrides).map_err(EditFailure::Load)?;
        match plan {
            Some(plan) => {
                let file = fs_err::canonicalize(file).map_err(CommandError::invalid)?;
                let warnings = (report.warnings() > 0).then(|| LoadError::Report(Box::new(report)));
                Ok(Self { file, old, new, plan: Arc::new(plan), warnings })
            }
            None => Err(EditFailure::Load(LoadError::Report(Box::new(report)))),
        }
    }

    /// Prints the warnings about the new text.
    pub(crate) fn print_warnings(&self) {
        if let Some(warnings) = &self.warnings {
            warnings.print();
        }
    }

    pub(crate) fn is_changed(&self) -> bool {
        self.old != self.new
    }

    pub(crate) fn text(&self) -> &str {
        &self.new
    }

    /// The change as a unified diff; empty without one.
    pub(crate) fn diff(&self) -> String {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        let diff = TextDiff::from_lines(&self.old, &self.new);
        let text = diff.unified_diff().context_radius(CONTEXT_LINES).header(&name, &name).to_string();
        if self.is_changed() { text } else { String::new() }
    }

    /// Writes the file, unless it was changed in the meantime.
    pub(crate) fn write(&self) -> Result<(), CommandError> {
        if read(&self.file)?.0 != self.old {
            return Err(changed_error(&self.file));
        }
        if self.is_changed() { atomic_write(&self.file, &self.new, true) } else { Ok(()) }
    }
}

fn changed_error(file: &Path) -> CommandError {
    let message = format!("{} was changed in the meantime; nothing was written", display_path(file));
    CommandError::new(ErrorKind::ActionNeeded, message).hint("look at it, and edit it again")
}
