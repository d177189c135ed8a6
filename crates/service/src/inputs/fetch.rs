//! Fetches media URLs, bounded in time and size, from public addresses only.
//!
//! The address check is in the DNS resolver of the connection itself, so that a name cannot resolve to one address for
//! the check and to another for the connection (DNS rebinding).

use std::{
    error::Error,
    io,
    net::IpAddr,
    sync::{Arc, OnceLock},
};

use bytes::{Bytes, BytesMut};
use reqwest::{
    Client, StatusCode,
    dns::{Addrs, Name, Resolve, Resolving},
    header::LOCATION,
    redirect,
};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::{CONNECT_TIMEOUT, address, data_uri::too_large};
use crate::{
    api_error::ApiError,
    memory::{MemoryBudget, MemoryPermit},
};

/// Redirects followed; each target is checked like the first URL.
const MAX_REDIRECTS: usize = 4;

/// Without a `User-Agent` many hosts answer 403.
const USER_AGENT: &str = concat!("runner/", env!("CARGO_PKG_VERSION"));

#[derive(Debug)]
pub(super) struct Fetcher {
    /// Built by the first fetch: it loads the system's root certificates, which takes longer than starting the service
    /// otherwise does, and which a system without TLS does not have.
    client: OnceLock<Result<Client, String>>,
    user_agent: String,
    allow_private: bool,
}

impl Fetcher {
    /// `base` is the service's own base URL.
    pub(super) fn new(allow_private: bool, base: &Url) -> Self {
        Self { client: OnceLock::new(), user_agent: user_agent(base), allow_private }
    }

    fn client(&self) -> Result<&Client, ApiError> {
        let client = self.client.get_or_init(|| {
            // Fails only if a provider is installed already, which serves as well.
            drop(rustls::crypto::ring::default_provider().install_default());
            Client::builder()
                .dns_resolver(Arc::new(CheckedResolver { allow_private: self.allow_private }))
                .redirect(redirect::Policy::none())
                .no_proxy()
                .connect_timeout(CONNECT_TIMEOUT)
                .referer(false)
                .user_agent(self.user_agent.as_str())
                .build()
                .map_err(|error| error.to_string())
        });
        client.as_ref().map_err(|reason| {
            let message = format!("the service cannot fetch media URLs: {reason}");
            ApiError::invalid("media_unreachable", message)
        })
    }

    pub(super) async fn fetch(
        &self,
        url: Url,
        limit: usize,
        deadline: Instant,
        memory: &MemoryBudget,
    ) -> Result<(Bytes, MemoryPermit), ApiError> {
        let fetched = timeout_at(deadline, self.follow(url, limit, memory)).await;
        fetched.unwrap_or_else(|_| {
            Err(ApiError::invalid("media_unreachable", "the media URL did not respond in time"))
        })
    }

    async fn follow(
        &self,
        mut url: Url,
        limit: usize,
        memory: &MemoryBudget,
    ) -> Result<(Bytes, MemoryPermit), ApiError> {
        for _ in 0..=MAX_REDIRECTS {
            if address::literal(&url).is_some_and(|address| !self.allowed(address)) {
                return Err(not_public());
            }
            let response =
                self.client()?.get(url.clone()).send().await.map_err(|error| unreachable(&error))?;
            let status = response.status();
            if status.is_redirection() {
                url = target(&url, &response)?;
                continue;
            }
            if status != StatusCode::OK {
                let message = format!("the media host responded with {status}");
                return Err(ApiError::invalid("media_unreachable", message));
            }
            return body(response, limit, memory).await;
        }
        let message = format!("the media URL redirects more than {MAX_REDIRECTS} times");
        Err(ApiError::invalid("media_unreachable", message))
    }

    fn allowed(&self, address: IpAddr) -> bool {
        self.allow_private || address::is_public(address)
    }
}

/// The product and, if the service has a public name, where it is: hosts ask for a way to contact those who fetch.
fn user_agent(base: &Url) -> String {
    if base.domain().is_some() && !address::is_loopback_host(base) {
        format!("{USER_AGENT} (+{base})")
    } else {
        format!("{USER_AGENT} (+video generation; fetches media that a request names)")
    }
}

fn target(from: &Url, response: &reqwest::Response) -> Result<Url, ApiError> {
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let target = location.and_then(|location| from.join(location).ok());
    let target = target.filter(|url| matches!(url.scheme(), "http" | "https")).ok_or_else(|| {
        ApiError::invalid(
            "media_unreachable",
            "the media URL redirects to something that is not an http or https URL",
        )
    })?;
    if has_credentials(&target) {
        let message = "the media URL redirects to a URL with a user name or a password; media must be reachable without a login";
        return Err(ApiError::invalid("media_unreachable", message));
    }
    Ok(target)
}

/// Whether a URL has a user name or a password in it.
pub(super) fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

async fn body(
    mut response: reqwest::Response,
    limit: usize,
    memory: &MemoryBudget,
) -> Result<(Bytes, MemoryPermit), ApiError> {
    let length =
        response.content_length().map_or(limit, |length| usize::try_from(length).unwrap_or(usize::MAX));
    if length > limit {
        return Err(too_large(limit));
    }
    let permit = memory.reserve(length).await?;
    let mut bytes = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&error))? {
        if bytes.len() + chunk.len() > limit {
            return Err(too_large(limit));
        }
        bytes.extend_from_slice(&chunk);
    }
    if bytes.is_empty() {
        return Err(ApiError::invalid("invalid_media", "the media item is empty"));
    }
    Ok((bytes.freeze(), permit))
}

fn not_public() -> ApiError {
    ApiError::invalid(
        "media_not_public",
        "the URL points to this machine or to a private network; media must be on the public internet",
    )
}

fn unreachable(error: &reqwest::Error) -> ApiError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    let mut last = String::new();
    while let Some(current) = cause {
        if current.downcast_ref::<NotPublic>().is_some() {
            return not_public();
        }
        // The io::Error around a resolver's error does not list it as its source.
        if let Some(inner) = current.downcast_ref::<io::Error>().and_then(io::Error::get_ref)
            && inner.downcast_ref::<NotPublic>().is_some()
        {
            return not_public();
        }
        last = current.to_string();
        cause = current.source();
    }
    ApiError::invalid("media_unreachable", format!("the media URL cannot be fetched: {last}"))
}

/// Resolves names to allowed addresses only.
#[derive(Debug)]
struct CheckedResolver {
    allow_private: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("not a public address")]
struct NotPublic;

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_private = self.allow_private;
        Box::pin(async move {
            // The connector replaces port 0 with that of the URL.
            let resolved = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let addresses: Vec<_> = resolved.collect();
            // All addresses must be public: a mixed answer is a sign of an attack.
            if !allow_private && addresses.iter().any(|address| !address::is_public(address.ip())) {
                return Err(NotPublic.into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
