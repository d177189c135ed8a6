//! Where `runner status` reads the record of runs.

use std::path::PathBuf;

use workflow::plan::Plan;

use crate::args::StatusArgs;
use crate::error::CommandError;
use crate::project_paths::ProjectPaths;

/// Where runs are recorded.
pub(crate) enum StatusSource {
    /// In this ledger, which is opened for each reading: it may not exist yet, and is never written.
    Ledger(PathBuf),
    #[cfg(feature = "cluster")]
    Cluster(Box<cluster::ClusterRecords>),
}

impl StatusSource {
    /// The ledger beside the workflow, or the cluster that the arguments name.
    #[cfg_attr(
        not(feature = "cluster"),
        expect(clippy::unused_async, reason = "a cluster is asked, where there is one")
    )]
    pub(crate) async fn open(
        args: &StatusArgs,
        paths: &ProjectPaths,
        plan: Option<&Plan>,
    ) -> Result<Self, CommandError> {
        #[cfg(feature = "cluster")]
        if let Some(records) =
            crate::commands::cluster_address::records(&args.engine, plan.map(Plan::name)).await?
        {
            return Ok(Self::Cluster(Box::new(records)));
        }
        #[cfg(not(feature = "cluster"))]
        let _ = (args, plan);
        Ok(Self::Ledger(paths.ledger()))
    }
}
