//! The identity of a service: one, however its base URL is written.

use std::net::Ipv4Addr;

use url::{Host, Url};

/// Identifies the service at a base URL in every key: origin and path, without user info and query, which may hold secrets. One service has
/// one identity, however its base URL is written: with or without `/v1`, a trailing slash, the default port or a final dot of the host, in
/// upper or lower case, with characters that are percent-encoded in one way or another (RFC 3986, 6.2.2), and by any name of the loopback
/// interface. Slashes within the path count: a server can tell `/a//b` from `/a/b`.
///
/// To be called with the base URL as the user wrote it: each call removes one `/v1`.
pub fn service_identity(base_url: &Url) -> String {
    let mut url = base_url.clone();
    let path = base_url.path().trim_end_matches('/');
    let without_version = path.strip_suffix("/v1").unwrap_or(path).trim_end_matches('/').to_owned();
    url.set_path(&without_version);
    let loopback = Ipv4Addr::LOCALHOST.to_string();
    let host = match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            Some(if name == "localhost" { loopback } else { name.to_owned() })
        }
        Some(Host::Ipv6(address)) if address.is_loopback() => Some(loopback),
        Some(Host::Ipv6(address)) => address.to_ipv4_mapped().map(|address| address.to_string()),
        Some(Host::Ipv4(_)) | None => None,
    };
    if let Some(host) = host {
        // A host that was valid stays so.
        let _ = url.set_host(Some(&host));
    }
    format!("{}{}", url.origin().ascii_serialization(), canonical_path(url.path().trim_end_matches('/')))
}

/// A path with unreserved characters as they are and the other percent-encoded ones in upper case (RFC 3986, 6.2.2.1 and 6.2.2.2).
fn canonical_path(path: &str) -> String {
    let mut parts = path.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..2).filter(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                text.push(char::from(byte));
                text.push_str(&part[2..]);
            }
            Some(_) => {
                text.push('%');
                text.push_str(&part[..2].to_ascii_uppercase());
                text.push_str(&part[2..]);
            }
            None => {
                text.push('%');
                text.push_str(part);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::service_identity;

    #[test]
    fn service_has_one_identity_however_its_url_is_written() {
        let identity = |url: &str| service_identity(&url.parse().expect("a URL"));
        for url in [
            "http://127.0.0.1:8080",
            "http://127.0.0.1:8080/",
            "http://127.0.0.1:8080/v1",
            "http://127.0.0.1:8080/v1/",
            "http://localhost:8080//v1//",
            "HTTP://LocalHost.:8080",
            "http://[::1]:8080/v1",
            "http://[::ffff:127.0.0.1]:8080",
        ] {
            assert_eq!(identity(url), "http://127.0.0.1:8080", "{url}");
        }
        for url in ["https://API.example.com", "https://api.example.com:443/v1", "https://api.example.com./"]
        {
            assert_eq!(identity(url), "https://api.example.com", "{url}");
        }
        for url in [
            "https://example.com/gateway/v1/",
            "https://me:pw@example.com/gateway?key=1",
            "https://example.com/g%61teway",
            "https://example.com/a/../g%61tew%61y/v1",
        ] {
            assert_eq!(identity(url), "https://example.com/gateway", "{url}");
        }
        for url in ["https://example.com/%c3%a9%2f%7e", "https://example.com/é%2F~/v1"] {
            assert_eq!(identity(url), "https://example.com/%C3%A9%2F~", "{url}");
        }
        assert_eq!(identity("http://[::ffff:10.0.0.5]"), "http://10.0.0.5");
        assert_eq!(identity("https://example.com/v1/v1"), "https://example.com/v1");
        for (left, right) in [
            ("https://example.com", "http://example.com"),
            ("http://127.0.0.1:8080", "http://127.0.0.2:8080"),
            ("https://example.com/a", "https://example.com/A"),
            ("https://example.com/a/b", "https://example.com/a//b"),
            ("https://example.com/a/b", "https://example.com/a%2Fb"),
            ("https://example.com/50%25", "https://example.com/50%2525"),
        ] {
            assert_ne!(identity(left), identity(right));
        }
    }
}
