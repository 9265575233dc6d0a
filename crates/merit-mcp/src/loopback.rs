//! Addresses on this machine: the only ones that are talked to.
//!
//! Plain HTTP carries headers in the clear and anybody on the way can change an answer that an agent is trained on, so what is not
//! a loopback address is refused. `https` would need a TLS library and is not built in.

use http::{HeaderName, HeaderValue, Uri};
use merit_net::is_loopback;
use std::collections::{BTreeMap, HashMap};

/// Headers that belong to the protocol or to HTTP itself.
const RESERVED: &[&str] = &[
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// Where a server is, and what is sent with every request.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) uri: Uri,
    pub(crate) headers: HashMap<HeaderName, HeaderValue>,
}

impl Address {
    pub(crate) fn new(url: &str, headers: &BTreeMap<String, String>) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|error| format!("url {url:?} is no address: {error}"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                return Err(format!("url {url:?}: https is not built in; servers on this machine use http"));
            }
            _ => return Err(format!("url {url:?}: begin with http://")),
        }
        let host = uri.host().unwrap_or_default();
        if !is_loopback(host) {
            let advice = "only servers on this machine are used (127.0.0.1, [::1] or localhost)";
            return Err(format!("url {url:?}: {advice}"));
        }
        let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
        if authority.contains('@') {
            return Err(format!("url {url:?}: a name or password goes into `headers`, not into the address"));
        }
        let headers = headers.iter().map(|(name, value)| header(name, value)).collect::<Result<_, _>>()?;
        Ok(Self { uri, headers })
    }
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let parsed: HeaderName = name.parse().map_err(|_| format!("{name:?} cannot be the name of a header"))?;
    if RESERVED.contains(&parsed.as_str()) {
        return Err(format!("the header `{name}` is set by the protocol; leave it out of `headers`"));
    }
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| format!("the header `{name}` holds a character that headers cannot have"))?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, accepted: bool) {
        let got = Address::new(url, &BTreeMap::new());
        assert_eq!(got.is_ok(), accepted, "{url}: {got:?}");
    }

    #[test]
    fn only_this_machine_is_talked_to() {
        check("http://127.0.0.1:8000/mcp", true);
        check("http://127.9.9.9/mcp", true);
        check("http://[::1]:8000/mcp", true);
        check("http://LocalHost:8000/mcp", true);
        check("http://localhost.example.org/mcp", false);
        check("http://10.0.0.1/mcp", false);
        check("http://0.0.0.0:8000/mcp", false);
        check("http://user:secret@127.0.0.1/mcp", false);
        check("https://127.0.0.1/mcp", false);
        check("ftp://127.0.0.1/mcp", false);
        check("/mcp", false);
        check("", false);
    }

    #[test]
    fn a_header_of_the_protocol_is_refused() {
        let headers = [("Mcp-Session-Id".to_owned(), "1".to_owned())].into();
        let error = Address::new("http://127.0.0.1/mcp", &headers).unwrap_err();
        assert!(error.contains("set by the protocol"), "{error}");
    }
}
