//! HTTP of cloud stores, over the workspace's own client: rustls with ring, the proxies that the caller names, no redirects.

use std::error::Error as _;
use std::time::Duration;

use async_trait::async_trait;
use client::Proxies;
use http_body_util::BodyExt as _;
use hyper::Response;
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use reqwest::{Body, Client, Request};

/// How long a connection may take, TLS included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the metadata service of a cloud's machine may take. Elsewhere nobody answers at its address.
const METADATA_TIMEOUT: Duration = Duration::from_secs(2);

/// Makes clients for `object_store`, which share one pool of connections.
#[derive(Debug, Clone)]
pub(super) struct Connector(Client);

impl Connector {
    /// `stall_timeout`: until the head of a response, and between two pieces of its body.
    pub(super) fn new(proxies: &Proxies, stall_timeout: Duration) -> Result<Self, client::ConfigError> {
        // A proxy for http would read credentials: those of a store without TLS, and those of the machine, which its metadata service has.
        let proxies = Proxies { http: None, ..proxies.clone() };
        client::http_client_with(&proxies, CONNECT_TIMEOUT, stall_timeout).map(Self)
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allows_http = options.get_config_value(&ClientConfigKey::AllowHttp);
        let https_only = allows_http.as_deref() != Some("true");
        Ok(HttpClient::new(Connection { client: self.0.clone(), is_https_only: https_only }))
    }
}

#[derive(Debug)]
struct Connection {
    client: Client,
    is_https_only: bool,
}

#[async_trait]
impl HttpService for Connection {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let url = reqwest::Url::parse(&parts.uri.to_string())
            .map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        if self.is_https_only && url.scheme() != "https" {
            return Err(HttpError::new(HttpErrorKind::Unknown, UnencryptedAddress));
        }
        let is_metadata = url.host_str() == Some("169.254.169.254");
        let mut request = Request::new(parts.method, url);
        *request.headers_mut() = parts.headers;
        *request.body_mut() = Some(match body.as_bytes() {
            Some(bytes) => Body::from(bytes.clone()),
            None => Body::wrap(body),
        });
        if is_metadata {
            *request.timeout_mut() = Some(METADATA_TIMEOUT);
        }
        let response: Response<Body> = self.client.execute(request).await.map_err(http_error)?.into();
        let (parts, body) = response.into_parts();
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body.map_err(http_error))))
    }
}

/// Why a request is not sent.
#[derive(Debug, thiserror::Error)]
#[error("the address is not https")]
struct UnencryptedAddress;

/// The kind decides whether `object_store` repeats the request: only what has certainly not arrived, or is idempotent.
fn http_error(error: reqwest::Error) -> HttpError {
    // It holds the URL, and with it the signatures of some stores.
    let error = error.without_url();
    let kind = if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if error.is_connect() {
        HttpErrorKind::Connect
    } else if error.is_decode() {
        HttpErrorKind::Decode
    } else {
        cause_kind(&error)
    };
    HttpError::new(kind, error)
}

fn cause_kind(error: &reqwest::Error) -> HttpErrorKind {
    use std::io::ErrorKind;
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<hyper::Error>()
            && (error.is_closed() || error.is_incomplete_message() || error.is_body_write_aborted())
        {
            return HttpErrorKind::Request;
        }
        if let Some(error) = cause.downcast_ref::<std::io::Error>() {
            match error.kind() {
                ErrorKind::TimedOut => return HttpErrorKind::Timeout,
                ErrorKind::ConnectionAborted
                | ErrorKind::ConnectionReset
                | ErrorKind::BrokenPipe
                | ErrorKind::UnexpectedEof => return HttpErrorKind::Interrupted,
                _ => {}
            }
        }
        source = cause.source();
    }
    HttpErrorKind::Unknown
}
