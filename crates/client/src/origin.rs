//! URL origins: the API key is sent to the origin of the API only.

use url::Url;

/// Whether two URLs have scheme, host and port in common.
pub(crate) fn same(a: &Url, b: &Url) -> bool {
    let is_web = matches!(a.scheme(), "http" | "https");
    is_web
        && a.scheme() == b.scheme()
        && a.host() == b.host()
        && a.port_or_known_default() == b.port_or_known_default()
}

/// Whether a redirect may be followed from one URL to another: on the web, and never from https to http.
pub(crate) fn may_follow(from: &Url, to: &Url) -> bool {
    matches!((from.scheme(), to.scheme()), ("https" | "http", "https") | ("http", "http"))
}

#[cfg(test)]
mod tests {
    use super::{may_follow, same};

    fn url(text: &str) -> url::Url {
        text.parse().expect("a URL")
    }

    #[test]
    fn same_origin_compares_scheme_host_and_port() {
        let api = url("https://api.example.com/v1");
        for own in [
            "https://api.example.com/files/a.mp4?x=1",
            "https://api.example.com:443/",
            "https://API.example.com",
        ] {
            assert!(same(&api, &url(own)), "{own}");
        }
        for other in [
            "http://api.example.com/",
            "https://api.example.com:8443/",
            "https://api.example.com.evil.test/",
            "https://evil.test/https://api.example.com",
            "https://api.example.com@evil.test/",
            "https://example.com/",
        ] {
            assert!(!same(&api, &url(other)), "{other}");
        }
        assert!(!same(&url("data:,a"), &url("data:,b")));
    }

    #[test]
    fn redirect_from_https_to_http_is_refused() {
        assert!(may_follow(&url("http://a.test"), &url("https://b.test")));
        assert!(!may_follow(&url("https://a.test"), &url("http://a.test")));
        assert!(!may_follow(&url("https://a.test"), &url("file:///etc/passwd")));
    }
}
