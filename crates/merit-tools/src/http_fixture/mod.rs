//! A web for agents that is all written down: requests are answered from fixtures, and never by a network.
//!
//! In: `{"method": "GET", "url": "https://…"}` or the URL alone. Out: status, headers and body as text. A fixture with several
//! responses gives the n-th to the n-th request that it answers, and the last from then on; how many each has answered is
//! the snapshot. Where nothing fits, the answer is a 404 that names the nearest URL, or a 405 with the methods that would do.

mod fixture;
mod pattern;
mod request;
mod response;
mod session;
mod source;
mod url;

use crate::{Tool, ToolError, ToolSession, ToolSettings, ToolSpec};
use merit_core::registry::{Component, Refusal};
use merit_core::{About, Task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use source::Source;
use std::path::PathBuf;
use std::sync::Arc;

pub use fixture::HttpFixture;
pub use response::HttpResponse;

/// What the registry says of it.
const ABOUT: About =
    About { name: "http", summary: "Web requests, answered from fixtures without a network.", paper: "" };

/// `http`. With neither `fixtures` nor `file`, each task brings a list as `http` in its payload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HttpConfig {
    /// Requests and their responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixtures: Option<Vec<HttpFixture>>,
    /// A file of them: a JSON array, or one JSON object per line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Bytes of a response that are shown.
    pub shown_bytes: usize,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self { fixtures: None, file: None, shown_bytes: 8_000 }
    }
}

impl Component for HttpConfig {
    const ABOUT: About = ABOUT;
    const EXAMPLE: &'static str =
        "fixtures = [{ url = \"https://shop.test/price?item=mug\", response = { body = \"47\" } }]";

    fn check(&self) -> Result<(), Refusal> {
        if self.fixtures.is_some() && self.file.is_some() {
            return Err(Refusal::new("`fixtures` and `file` are both given; keep one"));
        }
        let (shown, most) = (self.shown_bytes, 1 << 20);
        Refusal::unless((200..=most).contains(&shown), "shown_bytes", shown, &format!("200 to {most}"))
    }
}

impl ToolSettings for HttpConfig {
    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        Ok(vec![Arc::new(Http::new(self)?)])
    }
}

/// A web of fixtures.
#[derive(Debug)]
pub struct Http {
    source: Source,
    shown_bytes: usize,
    card: ToolSpec,
}

impl Http {
    /// Checks the settings and reads the fixtures where they name some.
    pub fn new(config: &HttpConfig) -> Result<Self, ToolError> {
        let setting = |why: String| ToolError::Setting { tool: ABOUT.name.to_owned(), why };
        config.check().map_err(|refusal| ToolError::refused(ABOUT.name, refusal))?;
        let source = Source::new(config).map_err(setting)?;
        let example = source.example();
        Ok(Self { card: card(&example), source, shown_bytes: config.shown_bytes })
    }
}

fn card(example: &Value) -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {
            "method": { "type": "string", "description": "GET where left out" },
            "url": { "type": "string", "description": "a whole URL, such as https://shop.test/price?item=mug" },
            "headers": { "type": "object", "additionalProperties": { "type": "string" } },
            "body": { "description": "a text, or JSON" },
        },
        "required": ["url"],
        "additionalProperties": false,
    });
    ToolSpec::json(ABOUT.name, ABOUT.summary, schema, example)
}

impl Tool for Http {
    fn spec(&self) -> &ToolSpec {
        &self.card
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        let fixtures = self.source.fixtures(task).map_err(|why| ToolError::Task {
            tool: ABOUT.name.to_owned(),
            task: task.id.clone(),
            why,
        })?;
        session::open(fixtures, self.shown_bytes, state)
    }
}
