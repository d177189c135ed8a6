//! `RUNNER_BASE_URL` and `RUNNER_API_KEY`: what they may be, and what to write where they are something else. Neither value is shown unless it can be
//! no secret.

use url::Url;
use workflow::is_private_host;

use crate::error::CommandError;

pub(crate) const BASE_URL: &str = "RUNNER_BASE_URL";
pub(crate) const API_KEY: &str = "RUNNER_API_KEY";

const EXAMPLE_URL: &str = "https://api.example.com";

/// The base URL of a service. `http` is accepted for this machine and for private networks only: the API key is sent in clear text.
pub(crate) fn base_url(text: &str) -> Result<Url, CommandError> {
    let text = text.trim().trim_matches(['"', '\'']);
    let export_hint = |url: &str| format!("write `export {BASE_URL}={url}`");
    let url = match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => url,
        // `localhost:8080` has the scheme `localhost`.
        _ if !text.contains("://") && is_address(text) => {
            let scheme = if is_private_address(text) { "http" } else { "https" };
            return Err(CommandError::invalid(format!("{BASE_URL} has no scheme: `{text}`"))
                .hint(export_hint(&format!("{scheme}://{text}"))));
        }
        Ok(url) if text.contains("://") => {
            return Err(CommandError::invalid(format!(
                "{BASE_URL} must begin with https:// or http://, not with {}://",
                url.scheme()
            ))
            .hint(export_hint(EXAMPLE_URL)));
        }
        Ok(_) | Err(_) => {
            return Err(
                CommandError::invalid(format!("{BASE_URL} is not a URL")).hint(export_hint(EXAMPLE_URL))
            );
        }
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(CommandError::invalid(format!("{BASE_URL} has a user name or a password in it"))
            .hint(format!("remove it, and set the key of the service as {API_KEY}")));
    }
    let origin = url.origin().ascii_serialization();
    if url.query().is_some() || url.fragment().is_some() {
        return Err(CommandError::invalid(format!("{BASE_URL} has a `?` or a `#` in it"))
            .hint(export_hint(&format!("{origin}{}", url.path().trim_end_matches('/')))));
    }
    if let Some(base) = url.path().trim_end_matches('/').strip_suffix("/v1/videos") {
        return Err(CommandError::invalid(format!(
            "{BASE_URL} is the address of an endpoint, not of the service"
        ))
        .hint(export_hint(&format!("{origin}{base}"))));
    }
    if url.scheme() == "http" && !is_private_host(&url) {
        return Err(CommandError::invalid(format!(
            "{BASE_URL} would send the API key unencrypted over the network: {origin}"
        ))
        .hint(export_hint(&format!("https{}", &origin["http".len()..])))
        .hint("http is accepted for this machine and for private networks: localhost, 10.0.0.5, nas.local"));
    }
    Ok(url)
}

/// The API key of the environment, without spaces and line ends around it.
pub(crate) fn api_key(text: &str) -> Result<&str, CommandError> {
    api_key_from(text, API_KEY, &format!("set the key alone: `export {API_KEY}=sk-…`"))
}

/// The API key in a text that comes from `source`. `hint` says how to write a key and nothing else there.
pub(crate) fn api_key_from<'a>(text: &'a str, source: &str, hint: &str) -> Result<&'a str, CommandError> {
    let key = text.trim();
    let invalid = |problem: &str| CommandError::invalid(format!("{source} {problem}"));
    if key.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("bearer "))
        || key.eq_ignore_ascii_case("bearer")
    {
        return Err(invalid("begins with `Bearer `, which is not part of the key").hint(hint));
    }
    if key.len() >= 2 && key.starts_with(['"', '\'']) {
        return Err(invalid("has quotes around it, which are not part of the key").hint(hint));
    }
    if key.contains('…') || (key.starts_with('<') && key.ends_with('>')) {
        return Err(invalid("is a placeholder, not a key").hint(format!(
            "set the key that the service has issued for you, or unset {BASE_URL} to use the embedded service"
        )));
    }
    if key.contains(['\n', '\r']) {
        return Err(invalid("has a line end in it")
            .hint("set one key: a file or a secret that it is read from may have several lines"));
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(invalid("has spaces or other characters in it that no key has").hint(hint));
    }
    Ok(key)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_that_are_accepted() {
        for text in [
            "https://api.example.com",
            " https://api.example.com/v1/ \n",
            "\"https://api.example.com\"",
            "https://api.example.com/gateway",
            "http://localhost:8080",
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
            "http://10.0.0.5",
            "http://192.168.1.9:8080/v1",
            "http://172.16.0.1",
            "http://169.254.1.1",
            "http://[fd00::1]",
            "http://[::ffff:10.0.0.5]",
            "http://video-service:8080",
            "http://nas.local",
            "http://video.prod.internal",
        ] {
            base_url(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }

    /// What to write is a command that is accepted.
    #[test]
    fn base_urls_that_are_refused_with_what_to_write() {
        for (text, write) in [
            ("api.example.com", Some("https://api.example.com")),
            ("api.example.com/v1", Some("https://api.example.com/v1")),
            ("api.example.com:8443", Some("https://api.example.com:8443")),
            ("localhost:8080", Some("http://localhost:8080")),
            ("10.0.0.5:8080", Some("http://10.0.0.5:8080")),
            ("http://api.example.com/v1", Some("https://api.example.com")),
            ("http://8.8.8.8:80", Some("https://8.8.8.8")),
            ("http://[2001:db8::1]", Some("https://[2001:db8::1]")),
            ("http://local.example.com", Some("https://local.example.com")),
            ("http://notlocal.com", Some("https://notlocal.com")),
            ("https://api.example.com/v1/videos", Some("https://api.example.com")),
            ("https://api.example.com/v1?key=SECRET", Some("https://api.example.com/v1")),
            ("https://api.example.com#SECRET", Some("https://api.example.com")),
            ("https://me:SECRET@api.example.com", None),
            ("ftp://api.example.com", Some(EXAMPLE_URL)),
            ("https://", Some(EXAMPLE_URL)),
            ("not a url", Some(EXAMPLE_URL)),
            ("sk-SECRET0123456789", Some(EXAMPLE_URL)),
            ("data:SECRET", Some(EXAMPLE_URL)),
        ] {
            let error = base_url(text).expect_err(text).to_string();
            assert!(!error.contains("SECRET"), "{error}");
            if let Some(write) = write {
                assert!(error.contains(&format!("`export {BASE_URL}={write}`")), "{text}: {error}");
                base_url(write).unwrap_or_else(|error| panic!("{write}: {error}"));
            }
        }
    }

    #[test]
    fn keys_that_cannot_be_sent_are_not_shown() {
        assert_eq!(api_key(" sk-good_0.1/=+ \r\n").expect("a key"), "sk-good_0.1/=+");
        for (text, reason) in [
            ("Bearer SECRET", "`Bearer `"),
            ("bearer SECRET", "`Bearer `"),
            ("Bearer", "`Bearer `"),
            ("\"SECRET\"", "quotes"),
            ("'SECRET'", "quotes"),
            ("SECRET\nSECRET", "line end"),
            ("SECRET\r\nSECRET", "line end"),
            ("SECRET SECRET", "spaces"),
            ("SECRET\u{200b}", "spaces"),
            ("schlüSECRET", "spaces"),
            ("sk-…", "placeholder"),
            ("<SECRET>", "placeholder"),
        ] {
            let error = api_key(text).expect_err(text).to_string();
            assert!(!error.contains("SECRET") && error.contains(reason), "{text}: {error}");
        }
    }
}
