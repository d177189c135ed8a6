//! Proxies: which requests go through which, given by the caller. This crate reads no environment.

use std::fmt;

use reqwest::{NoProxy, Proxy};
use url::Url;

use crate::ConfigError;

/// This machine, which is never reached through a proxy.
const LOOPBACK: &str = "localhost,127.0.0.0/8,::1,::ffff:127.0.0.0/104";

/// Proxies by the scheme of the request's URL. Requests to the loopback interface never use one, and neither do requests to a service at an http
/// URL: the proxy would read the API key.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// For `https` URLs. The proxy sees the host, not the request: the connection is a tunnel.
    pub https: Option<Url>,
    /// For `http` URLs of other hosts than the service's.
    pub http: Option<Url>,
    /// Hosts that are reached directly: names with their subdomains, addresses and networks, separated by commas; `*` for all.
    pub no_proxy: Option<String>,
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A URL may hold a user name and a password.
        let host = |url: &Option<Url>| url.as_ref().and_then(Url::host_str).map(str::to_owned);
        f.debug_struct("Proxies")
            .field("https", &host(&self.https))
            .field("http", &host(&self.http))
            .field("no_proxy", &self.no_proxy)
            .finish()
    }
}

impl Proxies {
    /// `service` is the base URL of the requests that carry the API key, if any.
    pub(crate) fn to_reqwest(&self, service: Option<&Url>) -> Result<Vec<Proxy>, ConfigError> {
        let direct = match &self.no_proxy {
            Some(hosts) => format!("{LOOPBACK},{hosts}"),
            None => LOOPBACK.to_owned(),
        };
        // https is a tunnel; http, by SOCKS too, is read by what passes it on.
        let direct_by_http = match service.filter(|url| url.scheme() == "http").and_then(Url::host_str) {
            Some(host) => format!("{},{direct}", host.trim_matches(['[', ']'])),
            None => direct.clone(),
        };
        let proxy = |url: &Option<Url>, direct: &str, by_scheme: fn(Url) -> reqwest::Result<Proxy>| {
            let Some(url) = url else { return Ok(None) };
            if !matches!(url.scheme(), "http" | "https" | "socks5" | "socks5h") {
                let scheme = url.scheme();
                return Err(ConfigError::Proxy(format!(
                    "the proxy cannot be used: {scheme} is not supported, only http, https, socks5 and socks5h are"
                )));
            }
            // The error names the URL.
            let proxy = by_scheme(url.clone()).map_err(|_| {
                ConfigError::Proxy("the proxy cannot be used: its URL is not valid".to_owned())
            })?;
            Ok(Some(proxy.no_proxy(NoProxy::from_string(direct))))
        };
        let both =
            [proxy(&self.https, &direct, Proxy::https)?, proxy(&self.http, &direct_by_http, Proxy::http)?];
        Ok(both.into_iter().flatten().collect())
    }
}
