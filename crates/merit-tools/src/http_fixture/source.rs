//! Where the fixtures come from: the settings, a file or the task, exactly one of them.

use super::HttpConfig;
use super::fixture::{Fixture, HttpFixture};
use merit_core::Task;
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// The key of a task's payload.
const KEY: &str = "http";
/// Largest file, in bytes.
const FILE_BYTES: u64 = 64 << 20;
/// Most fixtures.
const MAX_FIXTURES: usize = 10_000;

#[derive(Debug)]
pub(super) enum Source {
    Settings(Arc<[Fixture]>),
    Tasks,
}

impl Source {
    pub(super) fn new(config: &HttpConfig) -> Result<Self, String> {
        let written = match (&config.fixtures, &config.file) {
            (Some(_), Some(_)) => return Err("`fixtures` and `file` are both given; keep one".to_owned()),
            (Some(fixtures), None) => fixtures.clone(),
            (None, Some(path)) => {
                read_file(path).map_err(|why| format!("`file` {}: {why}", path.display()))?
            }
            (None, None) => return Ok(Self::Tasks),
        };
        Ok(Self::Settings(read_all(&written)?))
    }

    /// A request that these fixtures answer, for the card.
    pub(super) fn example(&self) -> Value {
        let plain = match self {
            Self::Settings(fixtures) => fixtures.iter().find(|fixture| fixture.method == "GET"),
            Self::Tasks => None,
        };
        let url = plain.map_or("https://shop.test/price?item=mug", |fixture| fixture.url.text.as_str());
        json!({ "method": "GET", "url": url })
    }

    pub(super) fn fixtures(&self, task: &Task) -> Result<Arc<[Fixture]>, String> {
        match (self, task.payload.get(KEY)) {
            (Self::Settings(fixtures), None) => Ok(Arc::clone(fixtures)),
            (Self::Settings(_), Some(_)) => {
                Err("its payload has `http`, but the settings name fixtures too; keep one of them".to_owned())
            }
            (Self::Tasks, Some(Value::Array(list))) => {
                let fixtures: Result<Vec<HttpFixture>, String> =
                    list.iter().enumerate().map(|(i, fixture)| read_value(i, fixture)).collect();
                read_all(&fixtures?)
            }
            (Self::Tasks, Some(_)) => Err("its `http` is not a list of fixtures".to_owned()),
            (Self::Tasks, None) => {
                Err("its payload has no `http` (a list of fixtures), and the settings name neither `fixtures` nor `file`"
                    .to_owned())
            }
        }
    }
}

fn read_value(i: usize, fixture: &Value) -> Result<HttpFixture, String> {
    use serde::Deserialize as _;
    HttpFixture::deserialize(fixture).map_err(|error| format!("fixture {i}: {error}"))
}

fn read_all(fixtures: &[HttpFixture]) -> Result<Arc<[Fixture]>, String> {
    if fixtures.is_empty() || fixtures.len() > MAX_FIXTURES {
        return Err(format!("there are {} fixtures; give 1 to {MAX_FIXTURES}", fixtures.len()));
    }
    let read = |(i, fixture)| Fixture::read(fixture).map_err(|why| format!("fixture {i}: {why}"));
    fixtures.iter().enumerate().map(read).collect()
}

fn read_file(path: &Path) -> Result<Vec<HttpFixture>, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    file.take(FILE_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > FILE_BYTES {
        return Err(format!("it has more than {FILE_BYTES} bytes"));
    }
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(&text).map_err(|error| error.to_string());
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(i, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", i + 1));
    lines.map(read).collect()
}
