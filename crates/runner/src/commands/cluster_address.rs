//! The cluster that the arguments of a command name, and its errors at the boundary to the terminal.

use std::sync::Arc;

use cluster::{ClusterError, ClusterRecords, EngineClient, PriceSource, SharedStore};
use contract::Contract;

use crate::args::EngineAddressArgs;
use crate::budget;
use crate::error::CommandError;
use crate::report::sanitize;
use crate::shared_store;

/// The engine and the store of a cluster.
#[derive(Debug, Clone)]
pub(crate) struct ClusterAddress {
    pub(crate) client: EngineClient,
    pub(crate) store: SharedStore,
}

impl ClusterAddress {
    /// The cluster that the arguments name; `None` if they name none.
    ///
    /// # Errors
    /// The store cannot be used.
    pub(crate) fn new(args: &EngineAddressArgs) -> Result<Option<Self>, CommandError> {
        let Some(engine) = args.engine.clone() else { return Ok(None) };
        // clap requires it with --engine.
        let Some(store) = &args.store else {
            return Err(CommandError::invalid("--engine needs --store"));
        };
        let client = EngineClient::new(engine).map_err(engine_error)?;
        Ok(Some(Self { client, store: shared_store::open(store)? }))
    }

    /// The records of a workflow, or of all.
    ///
    /// # Errors
    /// Restate cannot be reached, or no worker is registered.
    pub(crate) async fn records(self, workflow: Option<&str>) -> Result<ClusterRecords, CommandError> {
        ClusterRecords::open(self.client, self.store, workflow.map(str::to_owned)).await.map_err(engine_error)
    }
}

/// The records of the cluster that the arguments name; `None` if they name none.
///
/// # Errors
/// The cluster cannot be used.
pub(crate) async fn records(
    args: &EngineAddressArgs,
    workflow: Option<&str>,
) -> Result<Option<ClusterRecords>, CommandError> {
    match ClusterAddress::new(args)? {
        Some(address) => Ok(Some(address.records(workflow).await?)),
        None => Ok(None),
    }
}

/// Prices by the text of a price table; without one only durations are known.
pub(crate) fn price_source() -> PriceSource {
    Arc::new(|_plan, text| {
        let prices = match text {
            None => None,
            Some(text) => {
                let checked =
                    workflow::prices::check(text.as_bytes(), "prices.yaml", &[Contract::embedded()]);
                Some(checked.prices.ok_or_else(|| "it is not a price table".to_owned())?)
            }
        };
        Ok(budget::prices("", prices.as_ref()))
    })
}

/// An error of the cluster, at the boundary to the terminal.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn engine_error(error: ClusterError) -> CommandError {
    let hint = match &error {
        ClusterError::Refused { status: 404, .. } => {
            Some("no worker is registered there; start one with `runner worker --register`")
        }
        ClusterError::Unreachable { .. } => Some("check that Restate runs, and --engine (its ingress)"),
        _ => None,
    };
    let other_version = match &error {
        ClusterError::OtherVersion { removal, .. } => vec![
            "start it at another address, and end the old workers when nothing of theirs is open".to_owned(),
            format!(
                "or, while no run is in flight, remove what is registered: curl -X DELETE '{removal}?force=true'"
            ),
        ],
        _ => Vec::new(),
    };
    let hints = hint.map(str::to_owned).into_iter().chain(shared_store::hints(&error)).chain(other_version);
    // It may quote what a server says.
    hints.fold(CommandError::unusable(sanitize::line(&error.to_string())), CommandError::hint)
}
