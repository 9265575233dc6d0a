//! A request that is known, and what comes back.

use super::pattern::Pattern;
use super::request::{self, Request};
use super::response::HttpResponse;
use merit_core::canonical;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A fixture as it is written. Either `response` or `responses` is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpFixture {
    /// The method; GET where absent.
    #[serde(default = "request::get")]
    pub method: String,
    /// The URL; the order of its query does not count, and `*` stands for any characters.
    pub url: String,
    /// Headers that the request must have, whatever others it has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The body that the request must have: JSON is compared by value, other texts letter by letter. Absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// What always comes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<HttpResponse>,
    /// What comes back the first time, the second time and so on; the last from then on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<HttpResponse>,
}

/// A fixture, ready to compare.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fixture {
    pub(super) method: String,
    pub(super) url: Pattern,
    headers: BTreeMap<String, String>,
    body: Option<Value>,
    /// At least one.
    pub(super) responses: Vec<HttpResponse>,
}

impl Fixture {
    pub(super) fn read(fixture: &HttpFixture) -> Result<Self, String> {
        let responses = match (&fixture.response, fixture.responses.is_empty()) {
            (Some(response), true) => vec![response.clone()],
            (None, false) => fixture.responses.clone(),
            (Some(_), false) => return Err("it has `response` and `responses`; keep one".to_owned()),
            (None, true) => return Err("it has neither `response` nor `responses`".to_owned()),
        };
        responses.iter().try_for_each(HttpResponse::check)?;
        let lower = |(name, value): (&String, &String)| (name.to_ascii_lowercase(), value.clone());
        Ok(Self {
            method: request::method(&fixture.method)?,
            url: Pattern::read(&fixture.url)?,
            headers: fixture.headers.iter().map(lower).collect(),
            body: fixture.body.clone(),
            responses,
        })
    }

    /// Whether everything but the method fits.
    pub(super) fn fits(&self, request: &Request) -> bool {
        let has = |(name, value): (&String, &String)| request.headers.get(name) == Some(value);
        self.url.fits(&request.url) && self.headers.iter().all(has) && self.body_fits(request.body.as_ref())
    }

    fn body_fits(&self, body: Option<&Value>) -> bool {
        match (&self.body, body) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(wanted), Some(body)) => canonical(&read_body(wanted)) == canonical(&read_body(body)),
        }
    }

    /// Smaller goes first: what says more of the request.
    pub(super) fn rank(&self) -> (bool, bool, bool) {
        (self.url.has_star, self.body.is_none(), self.headers.is_empty())
    }
}

/// A body that is the text of a JSON object or array is that value.
fn read_body(body: &Value) -> Value {
    let structured = |text: &String| {
        let value: Value = serde_json::from_str(text).ok()?;
        (value.is_object() || value.is_array()).then_some(value)
    };
    match body {
        Value::String(text) => structured(text).unwrap_or_else(|| body.clone()),
        other => other.clone(),
    }
}
