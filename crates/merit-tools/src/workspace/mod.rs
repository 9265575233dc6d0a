//! A small folder for agents: texts by path, in memory, one per episode. Nothing touches the disk.
//!
//! In: `{"op": "write", "path": "notes.txt", "text": "…"}` and the like. Out: what was done or found. The first files come from
//! `task.payload["files"]`, an object from paths to texts. The snapshot is all files.

mod files;
mod op;
mod path;

use crate::excerpt::refused;
use crate::{Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSettings, ToolSpec};
use files::Files;
use merit_core::registry::{Component, Refusal};
use merit_core::{About, Task};
use op::Op;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// What the registry says of it.
const ABOUT: About = About {
    name: "workspace",
    summary: "Texts by path, kept for the episode: write, read, edit, search.",
    paper: "",
};

/// The key of a task's payload.
const KEY: &str = "files";

static CARD: LazyLock<ToolSpec> = LazyLock::new(|| {
    let example = json!({ "op": "write", "path": "notes.txt", "text": "first line\n" });
    ToolSpec::json(ABOUT.name, ABOUT.summary, op::schema(), &example)
});

/// `workspace`: how much an episode may keep and see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceConfig {
    /// Most files that an episode may keep at once.
    pub files: usize,
    /// Most bytes of all files and their paths together.
    pub bytes: usize,
    /// Bytes that one answer shows.
    pub shown_bytes: usize,
}

impl Default for WorkspaceConfig {
    fn default() -> Self {
        Self { files: 200, bytes: 1 << 20, shown_bytes: 8_000 }
    }
}

impl Component for WorkspaceConfig {
    const ABOUT: About = ABOUT;

    fn check(&self) -> Result<(), Refusal> {
        let ranges = [
            ("files", self.files, 1, 100_000),
            ("bytes", self.bytes, 1, 1 << 30),
            ("shown_bytes", self.shown_bytes, 200, 1 << 20),
        ];
        ranges.into_iter().try_for_each(|(key, got, least, most)| {
            Refusal::unless((least..=most).contains(&got), key, got, &format!("{least} to {most}"))
        })
    }
}

impl ToolSettings for WorkspaceConfig {
    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        Ok(vec![Arc::new(Workspace::new(*self)?)])
    }
}

/// A folder per episode.
#[derive(Debug)]
pub struct Workspace {
    config: WorkspaceConfig,
}

impl Workspace {
    /// Checks the settings.
    pub fn new(config: WorkspaceConfig) -> Result<Self, ToolError> {
        config.check().map_err(|refusal| ToolError::refused(ABOUT.name, refusal))?;
        Ok(Self { config })
    }
}

struct Session {
    files: Mutex<Files>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    files: BTreeMap<String, String>,
}

impl Tool for Workspace {
    fn spec(&self) -> &ToolSpec {
        &CARD
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        let files = match state {
            Some(state) => State::deserialize(state)
                .map_err(|error| error.to_string())
                .and_then(|state| Files::new(self.config, state.files))
                .map_err(|why| ToolError::Snapshot { tool: ABOUT.name.to_owned(), why })?,
            None => first_files(&task.payload)
                .and_then(|files| Files::new(self.config, files))
                .map_err(|why| ToolError::Task { tool: ABOUT.name.to_owned(), task: task.id.clone(), why })?,
        };
        Ok(Arc::new(Session { files: Mutex::new(files) }))
    }
}

fn first_files(payload: &Value) -> Result<BTreeMap<String, String>, String> {
    let Some(files) = payload.get(KEY) else { return Ok(BTreeMap::new()) };
    let files = files.as_object().ok_or("its `files` is not an object from paths to texts")?;
    let read = |(path, text): (&String, &Value)| match text {
        Value::String(text) => Ok((path.clone(), text.clone())),
        _ => Err(format!("file `{path}` of its `files` is not a text")),
    };
    files.iter().map(read).collect()
}

impl ToolSession for Session {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let done = Op::read(&input, files.most_bytes()).and_then(|op| op.run(&mut files));
        Box::pin(std::future::ready(done.map_or_else(refused, ToolAnswer::Ok)))
    }

    fn snapshot(&self) -> Value {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        json!({ "files": files.all() })
    }
}
