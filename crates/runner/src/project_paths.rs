//! The paths that belong to a workflow file: its folder, the ledger, the embedded service's data, the output folder.

use std::path::{Path, PathBuf};

use engine::Ledger;
use engine::artifact_store::ArtifactStore;

use crate::error::CommandError;
use crate::shell;

/// The paths of the project that a workflow file belongs to.
#[derive(Debug, Clone)]
pub(crate) struct ProjectPaths {
    /// The folder of the workflow file. File names in the workflow are relative to it.
    pub(crate) folder: PathBuf,
}

impl ProjectPaths {
    /// The paths for a workflow file or a folder. It need not exist.
    pub(crate) fn for_workflow(file: &Path) -> std::io::Result<Self> {
        let absolute = real_file(&std::path::absolute(file)?)?;
        let folder =
            if absolute.is_dir() { absolute } else { absolute.parent().unwrap_or(&absolute).to_path_buf() };
        Ok(Self { folder })
    }

    /// The paths for a workflow file or a folder that must exist: of commands that read records and may not read the file.
    ///
    /// # Errors
    /// There is no such file or folder.
    pub(crate) fn of_existing(file: &Path) -> Result<Self, CommandError> {
        if !file.exists() {
            return Err(CommandError::invalid(format!("there is no {}", display_path(file))));
        }
        Ok(Self::for_workflow(file)?)
    }

    /// The ledger of a project that has had a run; `file` is the workflow file or the folder that the user named.
    ///
    /// # Errors
    /// There is no ledger, or it cannot be used.
    pub(crate) fn open_ledger(&self, file: &Path) -> Result<Ledger, CommandError> {
        Ledger::open_existing(&self.ledger(), &self.folder)?.ok_or_else(|| self.no_ledger(file))
    }

    /// No run is recorded.
    pub(crate) fn no_ledger(&self, file: &Path) -> CommandError {
        let message = format!("no run is recorded: there is no ledger {}", display_path(&self.ledger()));
        let file = if file.is_dir() { "FILE".to_owned() } else { shell::path(file) };
        CommandError::invalid(message).hint(format!("start one: runner run {file}"))
    }

    /// The ledger, shared by all workflows in the folder.
    pub(crate) fn ledger(&self) -> PathBuf {
        self.folder.join(".runner").join("ledger.db")
    }

    /// The artifact store beside the ledger.
    pub(crate) fn store(&self) -> ArtifactStore {
        ArtifactStore::new(self.store_folder())
    }

    /// The folder of the artifact store.
    pub(crate) fn store_folder(&self) -> PathBuf {
        self.folder.join(".runner").join("artifacts")
    }

    /// Data folder of the embedded service.
    pub(crate) fn service(&self) -> PathBuf {
        self.folder.join(".runner").join("service")
    }

    /// Default output folder of a workflow.
    pub(crate) fn out(&self, workflow: &str) -> PathBuf {
        let safe = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
        let name: String = workflow.chars().map(safe).take(80).collect();
        let name = name.trim_matches('-');
        self.folder.join("out").join(if name.is_empty() { "workflow" } else { name })
    }
}

/// The file that a symbolic link to a file leads to: its project has its ledger. Links to folders stay as they are named.
pub(crate) fn real_file(file: &Path) -> std::io::Result<PathBuf> {
    if file.is_symlink() && file.is_file() { std::fs::canonicalize(file) } else { Ok(file.to_owned()) }
}

/// A path for display: relative to the current folder if it is inside.
pub(crate) fn display_path(path: &Path) -> String {
    let current_dir = std::env::current_dir().ok();
    let relative =
        current_dir.and_then(|current_dir| path.strip_prefix(current_dir).ok().map(Path::to_path_buf));
    relative.as_deref().unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_folder_stays_below_out() {
        let paths = ProjectPaths { folder: PathBuf::from("/films") };
        assert_eq!(paths.out("../../etc"), Path::new("/films/out/etc"));
        assert_eq!(paths.out("a lighthouse"), Path::new("/films/out/a-lighthouse"));
        assert_eq!(paths.out(".."), Path::new("/films/out/workflow"));
    }
}
