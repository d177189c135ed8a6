//! Proxies from the environment, with the names and rules that curl and most tools share.

use client::Proxies;
use url::Url;

use crate::error::CommandError;

/// Reads `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`, in lower case before upper case.
pub(crate) fn from_environment() -> Result<Proxies, CommandError> {
    read(|name| std::env::var(name).ok())
}

fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Proxies, CommandError> {
    let lookup = |name: &str| {
        [name.to_owned(), name.to_uppercase()].into_iter().find_map(|name| {
            let value = variable(&name)?.trim().to_owned();
            (!value.is_empty()).then_some((name, value))
        })
    };
    let no_proxy = lookup("no_proxy").map(|(_, hosts)| hosts);
    if no_proxy.as_ref().is_some_and(|hosts| hosts.split(',').any(|host| host.trim() == "*")) {
        return Ok(Proxies::default());
    }
    let proxy = |name| match lookup(name).or_else(|| lookup("all_proxy")) {
        Some((name, value)) => proxy_url(&name, &value).map(Some),
        None => Ok(None),
    };
    Ok(Proxies { https: proxy("https_proxy")?, http: proxy("http_proxy")?, no_proxy })
}

/// The URL of a proxy; without a scheme it is one for http, as everywhere. The value is not shown, because it may hold a password.
fn proxy_url(name: &str, value: &str) -> Result<Url, CommandError> {
    let text = if value.contains("://") { value.to_owned() } else { format!("http://{value}") };
    let unusable = |reason: String| {
        CommandError::invalid(format!("{name} is not the URL of a proxy: {reason}"))
            .hint("set it to a URL such as http://proxy.example:3128, or name the service's host in NO_PROXY")
    };
    let url: Url = text.parse().map_err(|error: url::ParseError| unusable(error.to_string()))?;
    match url.scheme() {
        "http" | "https" | "socks5" | "socks5h" if url.host_str().is_some_and(|host| !host.is_empty()) => {
            Ok(url)
        }
        "http" | "https" | "socks5" | "socks5h" => Err(unusable("it names no host".to_owned())),
        scheme => {
            Err(unusable(format!("{scheme} is not supported, only http, https, socks5 and socks5h are")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Result<Proxies, CommandError> {
        read(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn proxies_follow_the_usual_variables() {
        let url = |text: &str| Some(text.parse::<Url>().expect("a URL"));
        let read = |variables| {
            let Ok(proxies) = proxies(variables) else { panic!("{variables:?} is usable") };
            (proxies.https, proxies.http, proxies.no_proxy)
        };
        assert_eq!(read(&[]), (None, None, None));
        assert_eq!(
            read(&[
                ("HTTPS_PROXY", "http://a:1"),
                ("https_proxy", "http://b:2"),
                ("NO_PROXY", "x.example, 10.0.0.0/8")
            ]),
            (url("http://b:2"), None, Some("x.example, 10.0.0.0/8".to_owned())),
            "lower case overrides upper case"
        );
        assert_eq!(
            read(&[
                ("ALL_PROXY", "socks5h://s:1080"),
                ("HTTP_PROXY", "proxy.example:3128"),
                ("HTTPS_PROXY", " ")
            ]),
            (url("socks5h://s:1080"), url("http://proxy.example:3128"), None),
            "an empty variable is not set, and a scheme may be left out"
        );
        assert_eq!(read(&[("HTTPS_PROXY", "http://a:1"), ("NO_PROXY", "x, *")]), (None, None, None));
    }

    #[test]
    fn proxy_unusable_is_refused_without_showing_it() {
        for value in
            ["socks4://me:secret@s:1", "http://me:secret@", "http://me:secret@a:port", "ftp://secret"]
        {
            let Err(error) = proxies(&[("https_proxy", value)]) else { panic!("{value} is unusable") };
            assert!(error.message.starts_with("https_proxy is not"), "{}", error.message);
            assert!(!error.message.contains("secret"), "{}", error.message);
        }
    }
}
