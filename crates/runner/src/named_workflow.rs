//! A workflow in the commands that are printed: its file, and the arguments of the command that decide which work is meant.

use std::fmt::{self, Display};
use std::path::Path;

use crate::args::OverrideArgs;
use crate::shell;

/// A workflow file as commands name it, quoted for a shell. Displayed as the file, for commands that take no other arguments.
#[derive(Debug, Clone)]
pub(crate) struct NamedWorkflow {
    file: String,
    /// Each after a space.
    arguments: String,
    is_cluster: bool,
}

impl NamedWorkflow {
    /// A file, and the flags that name a cluster.
    pub(crate) fn new(file: &Path, cluster: &str) -> Self {
        let is_cluster = !cluster.is_empty();
        Self { file: shell::path(file) + cluster, arguments: String::new(), is_cluster }
    }

    /// With the arguments that change requests and keys, and the folder of the videos.
    pub(crate) fn with_arguments(
        mut self,
        overrides: &OverrideArgs,
        salt: Option<&str>,
        output_dir: Option<&Path>,
    ) -> Self {
        let assignment = |(name, value): &(String, String)| shell::quote(&format!("{name}={value}"));
        let service = overrides.service.as_deref().map(|service| shell::option("--service", service));
        let rehearse = overrides.rehearse.then(|| "--rehearse".to_owned());
        let salt = salt.map(|salt| shell::option("--salt", salt));
        let params = overrides.params.iter().map(|param| format!("-p {}", assignment(param)));
        let files = overrides.param_files.iter().map(|file| format!("--param-file {}", shell::path(file)));
        let axes = overrides.axes.iter().map(|axis| format!("-a {}", assignment(axis)));
        let folder = output_dir.map(|folder| format!("-o {}", shell::path(folder)));
        let first = service.into_iter().chain(rehearse).chain(salt);
        for argument in first.chain(params).chain(files).chain(axes).chain(folder) {
            self.arguments.push(' ');
            self.arguments.push_str(&argument);
        }
        self
    }

    /// Whether its runs are on a cluster.
    pub(crate) fn is_cluster(&self) -> bool {
        self.is_cluster
    }

    /// The file and the arguments: for `run` and `ledger adopt`, which without them would be about other work.
    pub(crate) fn in_full(&self) -> String {
        format!("{}{}", self.file, self.arguments)
    }
}

impl Display for NamedWorkflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)
    }
}
