//! Where a run is executed and recorded: on this machine, or on a cluster.

use clap::Args;
#[cfg(feature = "cluster")]
use url::Url;

/// The addresses of a cluster. Without them, and in builds without the feature `cluster`, everything is on this machine.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct EngineAddressArgs {
    /// Ingress of Restate: runs and videos are those of its cluster, not those of this folder.
    #[cfg(feature = "cluster")]
    #[arg(long, value_name = "URL", env = "RUNNER_ENGINE", requires = "store")]
    pub(crate) engine: Option<Url>,
    /// With --engine: the store that clients and workers share, `file:///FOLDER`, `s3://BUCKET/PREFIX`, `gs://…` or `az://…`.
    #[cfg(feature = "cluster")]
    #[arg(long, value_name = "URL", env = "RUNNER_STORE")]
    pub(crate) store: Option<Url>,
}

impl EngineAddressArgs {
    /// Whether runs are on a cluster.
    pub(crate) fn is_cluster(&self) -> bool {
        !self.flags().is_empty()
    }

    /// The flags that name the cluster, in the form `--name=value`; none without one.
    #[cfg_attr(not(feature = "cluster"), expect(clippy::unused_self, reason = "there is no cluster to name"))]
    pub(crate) fn flags(&self) -> Vec<String> {
        #[cfg(feature = "cluster")]
        if let Some(engine) = &self.engine {
            let store = self.store.iter().map(|store| format!("--store={store}"));
            return std::iter::once(format!("--engine={engine}")).chain(store).collect();
        }
        Vec::new()
    }

    /// The flags in commands that are suggested, each after a space.
    pub(crate) fn suffix(&self) -> String {
        self.flags().iter().flat_map(|flag| [" ".to_owned(), crate::shell::quote(flag)]).collect()
    }
}
