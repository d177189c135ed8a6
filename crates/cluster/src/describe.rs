//! What the workers of an engine work for, for clients: a client has neither the service's address nor its key.

use std::sync::Arc;

use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use crate::worker::Worker;

/// The service and the account of the workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineDescription {
    /// The identity of the service, part of every key.
    pub service: String,
    /// The digest of the API key; `None` for a service without keys.
    pub account: Option<String>,
    /// The key of the account's object.
    pub account_key: String,
}

/// The service that describes an engine.
#[derive(Debug, Clone)]
pub(crate) struct EngineService(pub(crate) Arc<Worker>);

#[service(name = "Engine")]
impl EngineService {
    /// What the worker that answers works for.
    #[handler]
    #[expect(clippy::unused_async, reason = "handlers are asynchronous")]
    async fn describe(&self, _ctx: Context<'_>) -> Result<Json<EngineDescription>, HandlerError> {
        Ok(Json(EngineDescription {
            service: self.0.provider.identity().to_owned(),
            account: self.0.provider.account().map(str::to_owned),
            account_key: self.0.account_key().to_owned(),
        }))
    }
}
