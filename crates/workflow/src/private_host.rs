//! Hosts that the public internet does not reach.

use std::net::Ipv4Addr;

use url::{Host, Url};

/// Domains that are not on the internet (RFC 6761, 6762, 8375; `internal` is reserved by ICANN).
const PRIVATE_DOMAINS: &[&str] = &["localhost", "local", "internal", "lan", "home.arpa", "test"];

/// Whether a URL is of this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.') == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|address| address.is_loopback())
        }
        None => false,
    }
}

/// Whether a URL is of this machine or of a private network: names without a dot, such as those of containers, names that the internet does
/// not have, and private addresses (RFC 1918, 3927, 4193, 4291).
pub fn is_private_host(url: &Url) -> bool {
    let is_private_v4 =
        |address: Ipv4Addr| address.is_loopback() || address.is_private() || address.is_link_local();
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            !name.contains('.')
                || PRIVATE_DOMAINS.iter().any(|domain| {
                    name.strip_suffix(domain).is_some_and(|host| host.is_empty() || host.ends_with('.'))
                })
        }
        Some(Host::Ipv4(address)) => is_private_v4(address),
        Some(Host::Ipv6(address)) => address.to_ipv4_mapped().map_or_else(
            || address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local(),
            is_private_v4,
        ),
        None => false,
    }
}
