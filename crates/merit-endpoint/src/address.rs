//! Addresses of servers: what may be talked to, and how paths are joined.

use crate::{EndpointConfig, EndpointError};
use http::Uri;
use merit_net::is_loopback;
use merit_net::text::glimpse;

/// A checked address up to and with the version.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    base: String,
}

impl Address {
    /// The address of `config`, if it may be talked to.
    pub(crate) fn of(config: &EndpointConfig) -> Result<Self, EndpointError> {
        let url = config.base_url.as_str();
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
        let plain = match uri.scheme_str() {
            Some("http") => true,
            Some("https") => false,
            _ => return wrong(format!("{url:?} must begin with http:// or https://")),
        };
        let elsewhere = !is_loopback(uri.host().unwrap_or_default());
        if elsewhere && !config.remote {
            let advice = "allow it by --remote on the command line or `remote = true` in the recipe, or use a tunnel to this machine";
            return wrong(format!(
                "{url:?} is another machine, and what is asked would leave this one; {advice}"
            ));
        }
        if elsewhere && plain && config.api_key_env.is_some() && !config.insecure_http {
            let advice = "use https or a tunnel to this machine, or say `insecure_http = true`";
            return wrong(format!(
                "{url:?} is plain HTTP, and anybody on the way could read the key; {advice}"
            ));
        }
        if config.insecure_http && !plain {
            return wrong(format!("{url:?} is encrypted, so `insecure_http` does nothing; leave it out"));
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

    fn address(url: &str, change: impl Fn(&mut EndpointConfig)) -> Result<Address, EndpointError> {
        let mut config = EndpointConfig::new(url, "m");
        change(&mut config);
        Address::of(&config)
    }

    fn refused(url: &str, change: impl Fn(&mut EndpointConfig), says: &str) {
        let error = address(url, change).unwrap_err().to_string();
        assert!(error.contains(says), "{url}: {error}");
    }

    #[test]
    fn only_this_machine_is_asked_unless_another_is_allowed() {
        for here in [
            "http://127.0.0.1:8000/v1",
            "http://[::1]:8000/v1/",
            "http://LocalHost/v1",
            "https://localhost/v1",
        ] {
            address(here, |_| {}).unwrap();
        }
        for elsewhere in
            ["http://localhost.example.org/v1", "http://10.0.0.1:8000/v1", "https://api.example.org/v1"]
        {
            refused(elsewhere, |_| {}, "--remote");
            refused(elsewhere, |config| config.insecure_http = true, "--remote");
            address(elsewhere, |config| config.remote = true).unwrap();
        }
    }

    #[test]
    fn a_key_goes_to_another_machine_by_https_only_unless_it_is_allowed_to_be_read() {
        let keyed = |config: &mut EndpointConfig| {
            config.remote = true;
            config.api_key_env = Some("KEY".into());
        };
        address("https://api.example.org/v1", keyed).unwrap();
        refused("http://10.0.0.1/v1", keyed, "could read the key");
        let open = |config: &mut EndpointConfig| {
            keyed(config);
            config.insecure_http = true;
        };
        address("http://10.0.0.1/v1", open).unwrap();
        refused("https://api.example.org/v1", open, "does nothing");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for url in ["ftp://127.0.0.1/v1", "127.0.0.1:8000", "http://127.0.0.1/v1?key=1", ""] {
            refused(url, |config| config.remote = true, "`base_url`");
        }
    }

    #[test]
    fn a_password_in_the_address_is_refused_and_not_repeated() {
        let error = address("http://me:hunter2@127.0.0.1/v1", |_| {}).unwrap_err();
        assert!(
            error.to_string().contains("api_key_env") && !error.to_string().contains("hunter2"),
            "{error}"
        );
    }

    #[test]
    fn paths_are_joined_with_one_slash() {
        let address = address("http://127.0.0.1/v1//", |_| {}).unwrap();
        assert_eq!(address.join("models"), "http://127.0.0.1/v1/models");
    }
}
