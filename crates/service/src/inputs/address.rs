//! Network addresses that media may be fetched from: public ones only, unless configured otherwise (spec 2.3).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Whether an address is on the public internet: not loopback, private, link-local, multicast or reserved.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || first == 0
        || first >= 240 // reserved, and broadcast
        || (first == 100 && second & 0xc0 == 64) // carrier-grade NAT
        || (first == 192 && second == 0 && third == 0) // IETF protocol assignments
        || (first == 192 && second == 88 && third == 99) // 6to4 relays, retired
        || (first == 198 && second & 0xfe == 18); // benchmarking
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [.., high, low] = segments;
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match segments {
        // Mapped (::ffff:a.b.c.d) and translated (64:ff9b::a.b.c.d) addresses reach the IPv4 address inside.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => is_public_v4(v4(high, low)),
        // 6to4 likewise.
        [0x2002, high, low, ..] => is_public_v4(v4(high, low)),
        // Teredo, documentation, benchmarks and other assignments below 2001::/23.
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
        // Documentation (RFC 9637): 3fff::/20.
        [0x3fff, second, ..] if second < 0x1000 => false,
        // Global unicast addresses are 2000::/3.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// The IP address in a URL's host, if it is one; names are checked when they are resolved.
pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

/// Whether the host of a URL is loopback.
pub(super) fn is_loopback_host(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_addresses_are_not_public() {
        for text in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "198.18.0.1",
            "198.19.255.255",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2001:0:4136:e378::",
            "2001:db8::1",
            "2002:c058:6301::",
            "3fff::1",
            "3fff:fff::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn global_addresses_are_public() {
        for text in [
            "1.1.1.1",
            "93.184.216.34",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "198.20.0.1",
            "2606:4700::1111",
            "2a00:1450::1",
            "3fff:1000::1",
            "192.88.98.1",
            "192.88.100.1",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn loopback_is_recognized_in_all_notations() {
        for text in [
            "http://127.1/",
            "http://0x7f000001/",
            "http://2130706433/",
            "http://[::1]/",
            "http://LOCALHOST./",
        ] {
            assert!(is_loopback_host(&Url::parse(text).unwrap()), "{text}");
        }
        assert!(!is_loopback_host(&Url::parse("http://localhost.example.com/").unwrap()));
    }
}
