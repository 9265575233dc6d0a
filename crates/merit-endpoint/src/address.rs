//! Addresses of servers: what may be talked to, and how paths are joined.

use crate::EndpointError;
use http::Uri;
use merit_net::is_loopback;
use merit_net::text::glimpse;

/// A checked address up to and with the version.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    base: String,
}

impl Address {
    pub(crate) fn new(url: &str, insecure_http: bool) -> Result<Self, EndpointError> {
        let wrong = |why: String| Err(EndpointError::Config(format!("`base_url` {why}")));
        let Ok(uri) = url.parse::<Uri>() else {
            return wrong(format!("{:?} is no address", glimpse(url, 200)));
        };
        let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
        if authority.contains('@') {
            // The address may hold a password, so it is not repeated.
            return wrong("holds a name or password; put the key into `api_key_env`".to_owned());
        }
        if uri.query().is_some() {
            return wrong("has a query; give the address up to and with the version, e.g. …/v1".to_owned());
        }
        match uri.scheme_str() {
            Some("http") if insecure_http || is_loopback(uri.host().unwrap_or_default()) => {}
            Some("http") => {
                let advice = "use https, a tunnel to this machine, or say `insecure_http = true`";
                return wrong(format!("{url:?} is plain HTTP to another machine; {advice}"));
            }
            Some("https") if cfg!(feature = "https") => {}
            Some("https") => {
                let advice = "build with `--features https`, or use a tunnel to this machine";
                return wrong(format!("{url:?}: https is not built in; {advice}"));
            }
            _ => return wrong(format!("{url:?} must begin with http:// or https://")),
        }
        Ok(Self { base: url.trim_end_matches('/').to_owned() })
    }

    /// As it is shown in errors.
    pub(crate) fn shown(&self) -> &str {
        &self.base
    }

    /// The address of `path` below the base.
    pub(crate) fn join(&self, path: &str) -> String {
        format!("{}/{path}", self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, insecure_http: bool, accepted: bool) {
        let got = Address::new(url, insecure_http);
        assert_eq!(got.is_ok(), accepted, "{url}: {got:?}");
    }

    #[test]
    fn plain_http_stays_on_this_machine_unless_it_is_allowed_to_leave() {
        check("http://127.0.0.1:8000/v1", false, true);
        check("http://[::1]:8000/v1/", false, true);
        check("http://LocalHost/v1", false, true);
        check("http://localhost.example.org/v1", false, false);
        check("http://10.0.0.1:8000/v1", false, false);
        check("http://10.0.0.1:8000/v1", true, true);
        check("https://api.example.org/v1", false, cfg!(feature = "https"));
        check("ftp://127.0.0.1/v1", true, false);
        check("127.0.0.1:8000", true, false);
        check("http://127.0.0.1/v1?key=1", false, false);
        check("", true, false);
    }

    #[test]
    fn a_password_in_the_address_is_refused_and_not_repeated() {
        let error = Address::new("http://me:hunter2@127.0.0.1/v1", false).unwrap_err();
        assert!(
            error.to_string().contains("api_key_env") && !error.to_string().contains("hunter2"),
            "{error}"
        );
    }

    #[cfg(not(feature = "https"))]
    #[test]
    fn https_without_the_feature_says_how_to_get_it() {
        let error = Address::new("https://api.example.org/v1", false).unwrap_err();
        assert!(error.to_string().contains("--features https"), "{error}");
    }

    #[test]
    fn paths_are_joined_with_one_slash() {
        let address = Address::new("http://127.0.0.1/v1//", false).unwrap();
        assert_eq!(address.join("models"), "http://127.0.0.1/v1/models");
    }
}
