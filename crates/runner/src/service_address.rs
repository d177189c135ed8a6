//! `RUNNER_BASE_URL` and `RUNNER_API_KEY`: what they may be, and what to write where they are something else. Neither value is shown unless it can be
//! no secret.

use contract::Contract;
use url::Url;
use workflow::service_url;

use crate::error::CommandError;

pub(crate) const BASE_URL: &str = "RUNNER_BASE_URL";
pub(crate) const API_KEY: &str = "RUNNER_API_KEY";

/// The base URL of the environment's service.
pub(crate) fn base_url(text: &str) -> Result<Url, CommandError> {
    service_url(text, &Contract::embedded().submit().path).map_err(|error| {
        let refused = CommandError::invalid(format!("{BASE_URL} {}", error.problem));
        let refused = match error.instead {
            Some(url) => refused.hint(format!("write `export {BASE_URL}={url}`")),
            None => refused.hint(format!("set the key of the service as {API_KEY}")),
        };
        error.note.into_iter().fold(refused, CommandError::hint)
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE_URL: &str = "https://api.example.com";

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
