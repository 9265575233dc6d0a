//! How a server is reached: a command of ours that speaks over its standard streams, or an address.
//!
//! A command gets a cleared environment: only [`PASSED_ON`], what `inherit` names and what `env` sets. So no secret of merit's
//! own environment reaches a server that it was not meant for.

use crate::McpError;
use crate::loopback::Address;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The variables of our environment that every command gets.
pub const PASSED_ON: &[&str] =
    &["PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "USER", "LOGNAME"];

/// The longest deadline that can be set, in seconds.
pub const MAX_SECONDS: f64 = 86_400.0;

/// One MCP server, as a recipe names it: exactly one of `command` and `url`.
///
/// ```
/// let text = r#"
///     command = ["python3", "server.py", "--quiet"]
///     env = { MODE = "test" }
///     timeout_s = 5
/// "#;
/// let server: merit_mcp::ServerConfig = toml::from_str(text).unwrap();
/// server.check().unwrap();
/// let both = merit_mcp::ServerConfig { url: Some("http://127.0.0.1:8000/mcp".to_owned()), ..server };
/// assert!(both.check().unwrap_err().to_string().contains("not both"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// The program and its arguments; it speaks the protocol over its standard streams. Absent when there is a `url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// Variables set for the command.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Names of variables of our own environment handed to the command, beside [`PASSED_ON`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inherit: Vec<String>,
    /// Where the command runs. Absent: where merit runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// The address of a server that runs already (streamable HTTP), on this machine. Absent when there is a `command`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Headers sent with every HTTP request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Seconds for the server to start, open the protocol and list its tools.
    #[serde(alias = "start_seconds")]
    pub start_s: f64,
    /// Seconds for one call of a tool.
    #[serde(alias = "call_seconds")]
    pub timeout_s: f64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            command: None,
            env: BTreeMap::new(),
            inherit: Vec::new(),
            cwd: None,
            url: None,
            headers: BTreeMap::new(),
            start_s: 20.0,
            timeout_s: 30.0,
        }
    }
}

/// A configuration that can work.
#[derive(Debug)]
pub(crate) enum Endpoint {
    Command { program: String, arguments: Vec<String>, env: BTreeMap<String, String>, cwd: Option<PathBuf> },
    Url(Address),
}

impl ServerConfig {
    /// A server that is a command of ours.
    pub fn command<S: Into<String>>(words: impl IntoIterator<Item = S>) -> Self {
        Self { command: Some(words.into_iter().map(Into::into).collect()), ..Self::default() }
    }

    /// A server at an address on this machine.
    pub fn url(url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..Self::default() }
    }

    /// Whether it can work, without starting anything.
    pub fn check(&self) -> Result<(), McpError> {
        self.endpoint().map(|_| ())
    }

    /// What errors call this server.
    pub(crate) fn name(&self) -> String {
        match (&self.command, &self.url) {
            (Some(words), _) => format!("`{}`", words.join(" ")),
            (None, Some(url)) => url.clone(),
            (None, None) => "(none)".to_owned(),
        }
    }

    pub(crate) fn start_deadline(&self) -> Duration {
        Duration::from_secs_f64(self.start_s)
    }

    pub(crate) fn call_deadline(&self) -> Duration {
        Duration::from_secs_f64(self.timeout_s)
    }

    pub(crate) fn endpoint(&self) -> Result<Endpoint, McpError> {
        for (key, seconds) in [("start_s", self.start_s), ("timeout_s", self.timeout_s)] {
            if !(seconds > 0.0 && seconds <= MAX_SECONDS) {
                return refuse(format!(
                    "{key} = {seconds}: give more than 0 and at most {MAX_SECONDS} seconds"
                ));
            }
        }
        match (&self.command, &self.url) {
            (Some(_), Some(_)) => refuse("give either `command` or `url`, not both"),
            (None, None) => {
                refuse("give `command = [program, arguments…]` or `url = \"http://127.0.0.1:PORT/mcp\"`")
            }
            (Some(words), None) => self.as_command(words),
            (None, Some(url)) => self.as_url(url),
        }
    }

    fn as_command(&self, words: &[String]) -> Result<Endpoint, McpError> {
        let Some((program, arguments)) = words.split_first().filter(|(program, _)| !program.is_empty())
        else {
            return refuse("`command` is empty; its first word is the program");
        };
        if !self.headers.is_empty() {
            return refuse("`headers` go with `url`, not with `command`");
        }
        if words.iter().any(|word| word.contains('\0')) {
            return refuse("`command` holds a NUL byte");
        }
        let mut env: BTreeMap<String, String> = PASSED_ON
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
            .collect();
        for name in &self.inherit {
            let Ok(value) = std::env::var(name) else {
                return refuse(format!(
                    "`inherit` names {name}, which is not set (or not text) in our environment"
                ));
            };
            env.insert(name.clone(), value);
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return refuse(format!(
                    "`env` cannot set {name:?}: no `=` or NUL byte in names, none in values"
                ));
            }
            env.insert(name.clone(), value.clone());
        }
        let (program, arguments) = (program.clone(), arguments.to_vec());
        Ok(Endpoint::Command { program, arguments, env, cwd: self.cwd.clone() })
    }

    fn as_url(&self, url: &str) -> Result<Endpoint, McpError> {
        for (key, given) in [
            ("env", !self.env.is_empty()),
            ("inherit", !self.inherit.is_empty()),
            ("cwd", self.cwd.is_some()),
        ] {
            if given {
                return refuse(format!("`{key}` goes with `command`, not with `url`"));
            }
        }
        Address::new(url, &self.headers).map(Endpoint::Url).map_err(McpError::Config)
    }
}

fn refuse<T>(why: impl Into<String>) -> Result<T, McpError> {
    Err(McpError::Config(why.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let config: ServerConfig = toml::from_str(text).unwrap();
        let error = config.check().unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }

    #[test]
    fn what_cannot_work_is_refused_with_the_reason() {
        check("", "give `command");
        check("command = []", "`command` is empty");
        check("command = ['']", "`command` is empty");
        check("command = ['x']\nurl = 'http://127.0.0.1/mcp'", "not both");
        check("command = ['x']\nheaders = { a = 'b' }", "go with `url`");
        check("command = ['x']\nenv = { 'a=b' = 'c' }", "cannot set");
        check("command = ['x']\ninherit = ['NO_SUCH_VARIABLE_HERE']", "which is not set");
        check("command = ['x']\ncall_seconds = 0", "timeout_s = 0");
        check("command = ['x']\nstart_seconds = nan", "start_s = NaN");
        check("url = 'http://127.0.0.1/mcp'\ncwd = '/tmp'", "`cwd` goes with `command`");
        check("url = 'https://127.0.0.1/mcp'", "https");
        check("url = 'http://example.org/mcp'", "this machine");
        check("url = 'http://127.0.0.1/mcp'\nheaders = { 'a b' = 'c' }", "header");
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let error = toml::from_str::<ServerConfig>("comand = ['x']").unwrap_err().to_string();
        assert!(error.contains("comand"), "{error}");
    }

    #[test]
    fn a_configuration_survives_writing_and_reading() {
        let config = ServerConfig { inherit: vec!["PATH".to_owned()], ..ServerConfig::command(["a", "b"]) };
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<ServerConfig>(&text).unwrap(), config);
    }
}
