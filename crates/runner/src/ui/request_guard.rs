//! Which requests are answered. A browser sends requests to loopback on behalf of any page that it shows, so that an
//! unguessable token alone is not enough: a name of the attacker may resolve to this address (DNS rebinding), and a page
//! of another local port may send the cookie along, because cookies ignore ports.

use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};

use super::origin::Origin;

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DenialReason {
    /// It names another host.
    Host,
    /// It comes from another page.
    Origin,
    /// Its body is not declared as JSON.
    ContentType,
    /// It has no session.
    Session,
}

impl DenialReason {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Origin => StatusCode::FORBIDDEN,
            Self::ContentType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Session => StatusCode::UNAUTHORIZED,
        }
    }

    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Host => {
                "this server answers at the address that `runner ui` has printed, and at no other name"
            }
            Self::Origin => "the request comes from another page",
            Self::ContentType => "the body must be application/json",
            Self::Session => "open the address that `runner ui` has printed, with its token",
        }
    }
}

/// Checks a request's headers, besides its session. `own_origin` is the page's own origin.
pub(super) fn check(method: &Method, headers: &HeaderMap, own_origin: &Origin) -> Result<(), DenialReason> {
    // Exactly one: a request with two is read differently by different programs.
    if single_value(headers, &header::HOST) != Some(own_origin.authority()) {
        return Err(DenialReason::Host);
    }
    let is_change = !matches!(*method, Method::GET | Method::HEAD);
    let origin = own_origin.to_string();
    match single_value(headers, &header::ORIGIN) {
        Some(value) if value == origin => {}
        None if !headers.contains_key(header::ORIGIN) && !is_change => {}
        _ => return Err(DenialReason::Origin),
    }
    // `none` is the address bar or another program. A page of another local port is `same-site`.
    match single_value(headers, &HeaderName::from_static("sec-fetch-site")) {
        None | Some("same-origin") => {}
        Some("none") if !is_change => {}
        Some(_) => return Err(DenialReason::Origin),
    }
    let is_json = |kind: &str| kind.split(';').next().unwrap_or_default().trim() == "application/json";
    if is_change && !single_value(headers, &header::CONTENT_TYPE).is_some_and(is_json) {
        return Err(DenialReason::ContentType);
    }
    Ok(())
}

/// The value of a cookie.
pub(super) fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

fn single_value<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "127.0.0.1:4000";

    fn check_headers(method: &Method, headers: &[(&'static str, &'static str)]) -> Result<(), DenialReason> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        check(method, &map, &Origin::direct(HERE.parse().unwrap()))
    }

    #[test]
    fn only_the_exact_host_is_answered() {
        assert_eq!(check_headers(&Method::GET, &[("host", HERE)]), Ok(()));
        for host in
            ["localhost:4000", "127.0.0.1", "127.0.0.1:4001", "evil.test:4000", "127.0.0.1:4000.evil.test"]
        {
            assert_eq!(check_headers(&Method::GET, &[("host", host)]), Err(DenialReason::Host), "{host}");
        }
        assert_eq!(check_headers(&Method::GET, &[]), Err(DenialReason::Host));
        assert_eq!(check_headers(&Method::GET, &[("host", HERE), ("host", HERE)]), Err(DenialReason::Host));
    }

    #[test]
    fn changes_need_their_own_origin() {
        let post = |extra: &[(&'static str, &'static str)]| {
            let mut headers = vec![("host", HERE), ("content-type", "application/json")];
            headers.extend_from_slice(extra);
            check_headers(&Method::POST, &headers)
        };
        assert_eq!(post(&[("origin", "http://127.0.0.1:4000")]), Ok(()));
        assert_eq!(post(&[("origin", "http://127.0.0.1:4000"), ("sec-fetch-site", "same-origin")]), Ok(()));
        for origin in ["null", "http://127.0.0.1:4001", "http://localhost:4000", "https://127.0.0.1:4000"] {
            assert_eq!(post(&[("origin", origin)]), Err(DenialReason::Origin), "{origin}");
        }
        assert_eq!(post(&[]), Err(DenialReason::Origin));
        for site in ["none", "same-site", "cross-site"] {
            let denied = post(&[("origin", "http://127.0.0.1:4000"), ("sec-fetch-site", site)]);
            assert_eq!(denied, Err(DenialReason::Origin), "{site}");
        }
    }

    #[test]
    fn reads_from_other_pages_are_refused() {
        let get = |more| check_headers(&Method::GET, &[("host", HERE), more]);
        assert_eq!(get(("sec-fetch-site", "none")), Ok(()));
        assert_eq!(get(("sec-fetch-site", "same-site")), Err(DenialReason::Origin));
        assert_eq!(get(("sec-fetch-site", "cross-site")), Err(DenialReason::Origin));
        assert_eq!(get(("origin", "http://evil.test")), Err(DenialReason::Origin));
    }

    #[test]
    fn forms_are_refused() {
        let headers = [("host", HERE), ("origin", "http://127.0.0.1:4000")];
        assert_eq!(check_headers(&Method::POST, &headers), Err(DenialReason::ContentType));
        let plain = [headers[0], headers[1], ("content-type", "text/plain")];
        assert_eq!(check_headers(&Method::POST, &plain), Err(DenialReason::ContentType));
    }

    #[test]
    fn cookie_is_read_among_others() {
        let mut headers = HeaderMap::new();
        headers.append("cookie", "a=1; runner-4000=x=y".parse().unwrap());
        assert_eq!(cookie(&headers, "runner-4000"), Some("x=y"));
        assert_eq!(cookie(&headers, "runner-400"), None);
    }
}
