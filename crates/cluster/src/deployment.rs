//! Workers at an address, as Restate knows them: a *deployment*. Restate does not ask an address again that is registered, whatever listens
//! there now (1.7 answers 200), so the version of the program is compared here.
//!
//! Invariant: a worker that registers serves an address only if the deployment there is of its own version.

use serde::Deserialize;
use url::Url;

use crate::client::{EngineClient, address, get};
use crate::error::ClusterError;

/// The name of the version in the metadata of a deployment's services.
pub const VERSION: &str = "runner-version";

#[derive(Debug, Deserialize)]
struct Deployments {
    deployments: Vec<DeploymentEntry>,
}

#[derive(Debug, Deserialize)]
struct DeploymentEntry {
    id: String,
    /// Absent for deployments that are no addresses.
    uri: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Deployment {
    services: Vec<Service>,
}

#[derive(Debug, Deserialize)]
struct Service {
    #[serde(default)]
    metadata: std::collections::BTreeMap<String, String>,
}

impl EngineClient {
    /// Whether workers of this version may serve at `worker`: nobody is registered there, or workers of the same version.
    ///
    /// # Errors
    /// When another version is registered there, or Restate's admin API at `admin` cannot be reached.
    pub async fn check_version(admin: &Url, worker: &Url, version: &str) -> Result<(), ClusterError> {
        let listed: Deployments = get(&address(admin, &["deployments"])).await?;
        let is_here = |listed: &DeploymentEntry| {
            listed.uri.as_deref().and_then(|uri| Url::parse(uri).ok()).as_ref() == Some(worker)
        };
        let Some(DeploymentEntry { id, .. }) = listed.deployments.into_iter().find(is_here) else {
            return Ok(());
        };
        let deployment: Deployment = get(&address(admin, &["deployments", &id])).await?;
        let registered =
            deployment.services.into_iter().find_map(|mut service| service.metadata.remove(VERSION));
        if registered.as_deref() == Some(version) {
            return Ok(());
        }
        Err(ClusterError::OtherVersion {
            url: worker.to_string(),
            registered: registered.unwrap_or_else(|| "unknown".to_owned()),
            own: version.to_owned(),
            removal: address(admin, &["deployments", &id]).to_string(),
        })
    }

    /// Registers workers of this version that listen at `worker` with Restate's admin API at `admin`.
    ///
    /// # Errors
    /// As [`EngineClient::check_version`], and when Restate cannot reach the workers or refuses them.
    pub async fn register_version(admin: &Url, worker: &Url, version: &str) -> Result<(), ClusterError> {
        Self::register(admin, worker).await?;
        Self::check_version(admin, worker, version).await
    }
}
