//! Which hosts are this machine?

use std::net::IpAddr;

/// Whether a host of an address is this machine: `localhost`, or an address of the loopback, with or without brackets.
pub fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for here in ["127.0.0.1", "127.9.9.9", "[::1]", "::1", "LocalHost"] {
            assert!(is_loopback(here), "{here}");
        }
        for elsewhere in ["localhost.example.org", "10.0.0.1", "0.0.0.0", "[::]", "example.org", ""] {
            assert!(!is_loopback(elsewhere), "{elsewhere}");
        }
    }
}
