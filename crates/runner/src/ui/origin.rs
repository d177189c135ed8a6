//! Where browsers reach the page. Requests that name another host or come from another origin are refused.

use std::net::SocketAddr;

use url::{Position, Url};

/// The origin of the page (RFC 6454).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    /// `http` or `https`.
    scheme: &'static str,
    /// Host, and the port where it is not the scheme's own: what a browser sends as `Host`.
    authority: String,
}

impl Origin {
    /// The origin of a server that browsers reach directly.
    pub(super) fn direct(address: SocketAddr) -> Self {
        Self { scheme: "http", authority: address.to_string() }
    }

    /// The origin of a server that listens on `address`: `public` where it is given. Without TLS only this machine may be named, unless `is_insecure`.
    ///
    /// # Errors
    /// What is wrong and what to do.
    pub(super) fn choose(
        address: SocketAddr,
        public: Option<&Url>,
        is_insecure: bool,
    ) -> Result<Self, String> {
        let Some(public) = public else {
            if address.ip().is_loopback() {
                return Ok(Self::direct(address));
            }
            return Err(format!(
                "{} can be reached from other machines: say where browsers open the page, such as `--public-url https://films.example.org` for a proxy with TLS \
                 in front",
                address.ip()
            ));
        };
        let refuse = |reason: &str| Err(format!("--public-url {public}: {reason}"));
        let scheme = match public.scheme() {
            "https" => "https",
            "http" => "http",
            _ => return refuse("the scheme has to be https or http"),
        };
        let is_origin = public[Position::AfterPort..] == *"/"
            && public[Position::BeforeUsername..Position::BeforeHost].is_empty();
        if !is_origin {
            return refuse("only scheme, host and port belong here; an example is https://films.example.org");
        }
        let is_this_machine = workflow::is_loopback(public);
        if scheme == "http" && !is_insecure && !(is_this_machine && address.ip().is_loopback()) {
            return refuse(
                "without TLS everybody on the way can read the token, and spend money with it; put a proxy with TLS in front and name its https address, \
                 or accept that with `--insecure`",
            );
        }
        Ok(Self { scheme, authority: public[Position::BeforeHost..Position::AfterPort].to_owned() })
    }

    /// `host` or `host:port`.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    pub(super) fn is_secure(&self) -> bool {
        self.scheme == "https"
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}", self.scheme, self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(address: &str, public: Option<&str>, is_insecure: bool) -> Result<String, String> {
        let public = public.map(|public| Url::parse(public).unwrap());
        let origin = Origin::choose(address.parse().unwrap(), public.as_ref(), is_insecure)?;
        Ok(origin.to_string())
    }

    #[test]
    fn loopback_needs_nothing_and_other_addresses_an_origin() {
        assert_eq!(chosen("127.0.0.1:4000", None, false).as_deref(), Ok("http://127.0.0.1:4000"));
        assert_eq!(chosen("[::1]:4000", None, false).as_deref(), Ok("http://[::1]:4000"));
        insta::assert_snapshot!(chosen("0.0.0.0:4000", None, true).unwrap_err(), @"0.0.0.0 can be reached from other machines: say where browsers open the page, such as `--public-url https://films.example.org` for a proxy with TLS in front");
    }

    #[test]
    fn origins_are_as_browsers_send_them() {
        let public = |text| chosen("0.0.0.0:4000", Some(text), false);
        assert_eq!(public("https://Films.Example.org:443/").as_deref(), Ok("https://films.example.org"));
        assert_eq!(public("https://films.example.org:8443").as_deref(), Ok("https://films.example.org:8443"));
    }

    #[test]
    fn without_tls_only_this_machine_is_named() {
        let tunnel = chosen("127.0.0.1:4000", Some("http://localhost:5000"), false);
        assert_eq!(tunnel.as_deref(), Ok("http://localhost:5000"));
        let plain = "http://10.0.0.5:4000";
        assert!(
            chosen("10.0.0.5:4000", Some(plain), false).is_err_and(|reason| reason.contains("--insecure"))
        );
        assert_eq!(chosen("10.0.0.5:4000", Some(plain), true).as_deref(), Ok(plain));
        assert!(chosen("0.0.0.0:4000", Some("http://localhost:4000"), false).is_err(), "others reach it too");
    }

    #[test]
    fn other_urls_are_refused() {
        for text in [
            "ftp://films.example.org",
            "https://films.example.org/a",
            "https://me@films.example.org",
            "https://films.example.org/?a=1",
        ] {
            assert!(chosen("127.0.0.1:4000", Some(text), true).is_err(), "{text}");
        }
    }
}
