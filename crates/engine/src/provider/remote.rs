//! The service across the network, through the generated client.

use std::io::Write;

use client::{CallError, Client};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use url::Url;

use super::{Provider, Submission, classify};
use crate::ids::TaskId;
use crate::state::{Answer, Failure, FailureKind};

/// A video service at a base address.
#[derive(Debug, Clone)]
pub struct Remote {
    client: Client,
    identity: String,
}

impl Remote {
    /// The service that `client` talks to.
    #[must_use]
    pub fn new(client: Client) -> Self {
        let identity = identity_of(client.base_url());
        Self { client, identity }
    }
}

/// What stands for the service at an address in every key: its origin and path, without what may hold secrets.
#[must_use]
pub fn identity_of(base_url: &Url) -> String {
    format!("{}{}", base_url.origin().ascii_serialization(), base_url.path().trim_end_matches('/'))
}

impl Provider for Remote {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn body(&self, request: &Value) -> Result<Value, Failure> {
        let unfit = |error: CallError| Failure::new(FailureKind::Local, error.to_string());
        let captured = self.client.capture_create(request).map_err(unfit)?;
        serde_json::from_str(&captured.body).map_err(|error| {
            Failure::new(FailureKind::Local, format!("the request has no body of JSON: {error}"))
        })
    }

    fn submit<'a>(&'a self, request: &'a Value) -> BoxFuture<'a, Submission> {
        Box::pin(async move { classify::submission(self.client.create(request).await) })
    }

    fn poll<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Answer> {
        Box::pin(async move { classify::answer(self.client.get(task.as_str()).await) })
    }

    fn download<'a>(
        &'a self,
        task: &'a TaskId,
        url: Option<&'a str>,
        sink: &'a mut (dyn Write + Send),
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let started = match url {
                Some(url) => self.client.fetch(url).await,
                None => self.client.content(task.as_str()).await,
            };
            let mut pieces = started.map_err(classify::download)?;
            while let Some(piece) = pieces.next().await {
                let piece = piece.map_err(|error: CallError| classify::download(error))?;
                // Trouble with the sink is the caller's own, who knows it already.
                sink.write_all(&piece)
                    .map_err(|error| Failure::new(FailureKind::Local, error.to_string()))?;
            }
            Ok(())
        })
    }

    fn reaches(&self, url: &str) -> bool {
        let Ok(url) = Url::parse(url) else { return false };
        let is_here = match url.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        !is_here || url.origin() == self.client.base_url().origin()
    }
}
