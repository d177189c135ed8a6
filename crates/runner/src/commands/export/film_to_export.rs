//! The finished film of a workflow, from which a file is made.

use std::path::{Path, PathBuf};

use engine::film::{FilmClip, up_to_date_source};
use media::AtomicFile;
use tempfile::TempDir;
use workflow::plan::Film;

use super::FilmProject;
use crate::args::ExportArgs;
use crate::commands::atomic_write;
use crate::error::CommandError;
use crate::project_paths::display_path;
use crate::shell;

/// A film that is joined and up to date, and the file to be made of it.
pub(super) struct FilmToExport {
    pub(super) path: PathBuf,
    pub(super) output: PathBuf,
    may_overwrite: bool,
}

impl FilmToExport {
    /// `suffix` follows the film's name in that of the new file, unless `--output` names it.
    pub(super) fn new(
        args: &ExportArgs,
        project: &FilmProject<'_>,
        film: &Film,
        film_clips: &[FilmClip],
        suffix: &str,
    ) -> Result<Self, CommandError> {
        let path = project.collector().folder(film, film_clips)?.join(&film.output);
        let recorded = project.ledger.as_ref().map(|ledger| ledger.film(&path)).transpose()?.flatten();
        let is_up_to_date = recorded
            .is_some_and(|recorded| up_to_date_source(project.plan, film, film_clips, &recorded).is_some());
        if !is_up_to_date {
            let message =
                format!("film `{}` is not joined, or not as its clips and its edit are now", film.output);
            let command = format!("runner run {}", shell::path(&args.workflow.file));
            return Err(CommandError::invalid(message).hint(format!("join it: {command}")));
        }
        let output = match &args.output {
            Some(output) => std::path::absolute(output)?,
            None => path.with_extension(suffix),
        };
        if output == path {
            return Err(CommandError::invalid(format!("{} is the film itself", display_path(&output)))
                .hint("choose another name with --output"));
        }
        if output.exists() && !args.overwrite {
            return Err(atomic_write::exists(&output));
        }
        Ok(Self { path, output, may_overwrite: args.overwrite })
    }

    /// A folder beside the new file; `runner clean` removes that of a killed process.
    pub(super) fn scratch(&self) -> Result<TempDir, CommandError> {
        let folder = self.output.parent().unwrap_or(Path::new("."));
        let scratch = tempfile::Builder::new().prefix(".film-").suffix(".part").tempdir_in(folder);
        scratch.map_err(|error| atomic_write::cannot_write(&error))
    }

    /// Gives a file that is whole its name.
    pub(super) fn publish(&self, new: &Path) -> Result<(), CommandError> {
        let new = AtomicFile::from_written(new).map_err(|error| atomic_write::cannot_write(&error))?;
        atomic_write::publish(new, &self.output, self.may_overwrite)?;
        outln!("{}", display_path(&self.output));
        Ok(())
    }
}
