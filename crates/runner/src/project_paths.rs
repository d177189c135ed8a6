//! Where things are, for a workflow file: its own folder, the ledger, the embedded service's files, and what is made.

use std::path::{Path, PathBuf};

/// The places that belong to one workflow file.
#[derive(Debug, Clone)]
pub(crate) struct ProjectPaths {
    /// The folder of the workflow file, which its file names are relative to.
    pub(crate) folder: PathBuf,
}

impl ProjectPaths {
    /// The places for `file`. The file need not exist.
    pub(crate) fn for_workflow(file: &Path) -> std::io::Result<Self> {
        let absolute = std::path::absolute(file)?;
        let folder =
            if absolute.is_dir() { absolute } else { absolute.parent().unwrap_or(&absolute).to_path_buf() };
        Ok(Self { folder })
    }

    /// The ledger, shared by all workflows of the folder.
    pub(crate) fn ledger(&self) -> PathBuf {
        self.folder.join(".runner").join("ledger.db")
    }

    /// What the embedded service keeps.
    pub(crate) fn service(&self) -> PathBuf {
        self.folder.join(".runner").join("service")
    }

    /// Where a workflow's videos go when nothing else is said.
    pub(crate) fn out(&self, workflow: &str) -> PathBuf {
        let safe = |letter: char| if letter.is_alphanumeric() || letter == '_' { letter } else { '-' };
        let name: String = workflow.chars().map(safe).take(80).collect();
        let name = name.trim_matches('-');
        self.folder.join("out").join(if name.is_empty() { "workflow" } else { name })
    }
}

/// A path as a person would name it from where they are.
pub(crate) fn display_path(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_path_buf));
    short.as_deref().unwrap_or(path).display().to_string()
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
