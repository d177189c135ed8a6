//! The address of a service, as a person writes it.

use url::Url;

use crate::private_host::is_private_host;

/// Why a text is not the address of a service. Nothing of it is shown that may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceUrlError {
    /// What is wrong, to be read after the name of the value: `has no scheme`.
    pub problem: String,
    /// What to write instead; `None` where only the writer knows.
    pub instead: Option<String>,
    /// What else there is to know.
    pub note: Option<&'static str>,
}

const EXAMPLE: &str = "https://api.example.com";

/// Reads the address of a service. `http` is accepted for this machine and for private networks only: the key is sent in clear text. `endpoint` is
/// the path below it to which requests are sent, which is not a part of it.
///
/// # Errors
/// It is not such an address.
pub fn service_url(text: &str, endpoint: &str) -> Result<Url, ServiceUrlError> {
    let error = |problem: String, instead: Option<String>| ServiceUrlError { problem, instead, note: None };
    let text = text.trim().trim_matches(['"', '\'']);
    let example = Some(EXAMPLE.to_owned());
    let url = match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => url,
        // `localhost:8080` has the scheme `localhost`.
        _ if !text.contains("://") && is_address(text) => {
            let scheme = if is_private_address(text) { "http" } else { "https" };
            return Err(error(format!("has no scheme: `{text}`"), Some(format!("{scheme}://{text}"))));
        }
        Ok(url) if text.contains("://") => {
            let problem = format!("must begin with https:// or http://, not with {}://", url.scheme());
            return Err(error(problem, example));
        }
        Ok(_) | Err(_) => return Err(error("is not a URL".to_owned(), example)),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(error("has a user name or a password in it: remove it".to_owned(), None));
    }
    let origin = url.origin().ascii_serialization();
    let path = url.path().trim_end_matches('/');
    if url.query().is_some() || url.fragment().is_some() {
        return Err(error("has a `?` or a `#` in it".to_owned(), Some(format!("{origin}{path}"))));
    }
    if let Some(base) = path.strip_suffix(endpoint).filter(|_| !endpoint.is_empty()) {
        let problem = "is the address of an endpoint, not of the service".to_owned();
        return Err(error(problem, Some(format!("{origin}{base}"))));
    }
    if url.scheme() == "http" && !is_private_host(&url) {
        return Err(ServiceUrlError {
            problem: format!("would send the API key unencrypted over the network: {origin}"),
            instead: Some(format!("https{}", &origin["http".len()..])),
            note: Some(
                "http is accepted for this machine and for private networks: localhost, 10.0.0.5, nas.local",
            ),
        });
    }
    Ok(url)
}

/// Whether a text without a scheme is a host, with a port and a path at most. A key is none: it has no dot and no port.
fn is_address(text: &str) -> bool {
    let host = text.split('/').next().unwrap_or_default();
    let has_dot_or_port = host == "localhost"
        || host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
        || host.contains('.');
    has_dot_or_port
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:/_[]".contains(&byte))
        && Url::parse(&format!("https://{text}")).is_ok()
}

fn is_private_address(text: &str) -> bool {
    Url::parse(&format!("http://{text}")).is_ok_and(|url| is_private_host(&url))
}
