//! Where a command reads runs and work: from the ledger beside the workflow, or from a cluster. Commands see the traits of
//! [`engine::records`] only.

use std::path::Path;
use std::sync::Arc;

use engine::Ledger;
use engine::preview::Preview;
#[cfg(feature = "cluster")]
use engine::provider::{Account, Accounts};
use engine::records::WorkRecords;
use scheduler::{Artifact, KeyResolver};
use workflow::plan::Plan;

use crate::args::{EngineAddressArgs, OverrideArgs};
use crate::backend::{self, PlannedServices};
#[cfg(feature = "cluster")]
use crate::commands::cluster_address;
use crate::error::CommandError;
use crate::input_file::LoadError;
#[cfg(feature = "cluster")]
use crate::load;
use crate::project_paths::ProjectPaths;
#[cfg(feature = "cluster")]
use crate::reruns;
use crate::services;

/// The records that a command reads.
pub(crate) enum Records {
    /// Of this folder; `None` before its first run.
    Local(Option<Box<Ledger>>),
    #[cfg(feature = "cluster")]
    Cluster(Box<cluster::ClusterRecords>),
}

impl Records {
    /// The records of a workflow's runs; of all runs on a cluster without a name.
    #[cfg_attr(
        not(feature = "cluster"),
        expect(clippy::unused_async, reason = "a cluster is asked, where there is one")
    )]
    pub(crate) async fn open(
        paths: &ProjectPaths,
        engine: &EngineAddressArgs,
        workflow: Option<&str>,
    ) -> Result<Self, CommandError> {
        #[cfg(feature = "cluster")]
        if let Some(records) = cluster_address::records(engine, workflow).await? {
            return Ok(Self::Cluster(Box::new(records)));
        }
        #[cfg(not(feature = "cluster"))]
        let _ = (engine, workflow);
        let ledger = Ledger::open_existing(&paths.ledger(), &paths.folder)?;
        Ok(Self::Local(ledger.map(Box::new)))
    }

    /// The records of work; `None` where nothing is recorded yet.
    pub(crate) fn work(&self) -> Option<&dyn WorkRecords> {
        match self {
            Self::Local(ledger) => ledger.as_deref().map(|ledger| ledger as &dyn WorkRecords),
            #[cfg(feature = "cluster")]
            Self::Cluster(records) => Some(&**records),
        }
    }

    /// The ledger of this folder, if the records are those of this folder.
    pub(crate) fn ledger(&self) -> Option<&Ledger> {
        match self {
            Self::Local(ledger) => ledger.as_deref(),
            #[cfg(feature = "cluster")]
            Self::Cluster(_) => None,
        }
    }

    /// The services of a plan, for what needs no keys.
    pub(crate) fn services_without_keys(&self, plan: &Plan) -> Result<PlannedServices, CommandError> {
        match self {
            Self::Local(_) => backend::planned_without_keys(plan),
            #[cfg(feature = "cluster")]
            Self::Cluster(records) => of_cluster(records, plan),
        }
    }

    /// The services of a plan, with their accounts as far as they are known: those that the file and the environment name, or that of the workers.
    pub(crate) fn services(
        &self,
        plan: &Plan,
        paths: &ProjectPaths,
    ) -> Result<PlannedServices, CommandError> {
        match self {
            Self::Local(_) => backend::planned(plan, &services::of_project(paths)?),
            #[cfg(feature = "cluster")]
            Self::Cluster(records) => of_cluster(records, plan),
        }
    }

    /// The plan with the renders that these records ask for: a file is loaded with those that the ledger of this folder asks for.
    #[cfg_attr(
        not(feature = "cluster"),
        expect(
            clippy::unnecessary_wraps,
            unused_variables,
            reason = "a cluster asks for others, where there is one"
        )
    )]
    pub(crate) fn asked_plan(
        &self,
        plan: &Arc<Plan>,
        keys: &KeyResolver,
        file: &Path,
        overrides: &OverrideArgs,
    ) -> Result<Arc<Plan>, LoadError> {
        match self {
            Self::Local(_) => Ok(Arc::clone(plan)),
            #[cfg(feature = "cluster")]
            Self::Cluster(_) => load::with_asked(plan, file, overrides, reruns::asked(keys.renders())),
        }
    }

    /// Keys of a run, with the renders on record.
    pub(crate) async fn key_resolver(&self, plan: &Plan, service: &str) -> Result<KeyResolver, CommandError> {
        Ok(match self.work() {
            Some(records) => records.key_resolver(plan, service).await?,
            None => KeyResolver::new(service),
        })
    }

    /// Brings the videos of a survey to this machine, where they are not here: under the names that a run gives them in `folder`.
    pub(crate) async fn localize(
        &self,
        previews: &[Preview],
        videos: &mut [Option<Artifact>],
        folder: &Path,
    ) -> Result<(), CommandError> {
        let Some(records) = self.work() else { return Ok(()) };
        for (preview, video) in previews.iter().zip(videos) {
            let (Some(key), Some(artifact)) = (preview.full_key, video.take()) else { continue };
            let target = folder.join(engine::artifact::file_name_of(&preview.name, &key));
            *video = Some(records.localize(artifact, &target).await?);
        }
        Ok(())
    }
}

/// The one service of a cluster.
#[cfg(feature = "cluster")]
fn of_cluster(records: &cluster::ClusterRecords, plan: &Plan) -> Result<PlannedServices, CommandError> {
    backend::refuse_named_services(plan)?;
    let cluster::EngineDescription { service, account, .. } = records.description().clone();
    let accounts = Accounts::default().with(service.as_str(), Account { digest: account, is_paid: true });
    Ok(PlannedServices { identity: service.clone(), accounts, shown: service })
}
