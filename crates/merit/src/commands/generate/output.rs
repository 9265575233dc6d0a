//! Completions and errors as JSON lines, to a file or standard output.

use super::line::Refusal;
use crate::commands::WrongInput;
use anyhow::{Context as _, Result, bail};
use merit_core::TokenId;
use merit_model::{Completion, StopReason, Tokenizer};
use serde::Serialize;
use serde_json::Value;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Where lines go.
pub(super) struct Output {
    to: Box<dyn Write>,
    name: String,
}

#[derive(Serialize)]
pub(super) struct Said<'a> {
    pub(super) line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a Value>,
    pub(super) sample: usize,
    pub(super) text: String,
    pub(super) tokens: &'a [TokenId],
    pub(super) finish: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logprobs: Option<&'a [f32]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_logprobs: Option<Vec<Vec<Alternative>>>,
}

#[derive(Serialize)]
pub(super) struct Alternative {
    token: TokenId,
    text: String,
    logprob: f32,
}

#[derive(Serialize)]
pub(super) struct Failed<'a> {
    pub(super) line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a Value>,
    /// Absent: it is about the whole line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sample: Option<usize>,
    pub(super) error: &'a Refusal,
}

impl Output {
    /// Opens the file, which must not be there unless `force`; `-` is standard output.
    pub(super) fn open(path: &Path, force: bool) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self { to: Box::new(std::io::stdout()), name: "standard output".to_owned() });
        }
        let name = path.display().to_string();
        let file = match force {
            true => File::create(path),
            false => File::create_new(path),
        };
        match file {
            Ok(file) => Ok(Self { to: Box::new(BufWriter::new(file)), name }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                bail!(WrongInput(format!("{name} is there already; --force replaces it")))
            }
            Err(error) => bail!(WrongInput(format!("cannot write {name}: {error}"))),
        }
    }

    /// Writes one object and hands it on at once.
    pub(super) fn put(&mut self, line: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_vec(line).context("a result cannot be written as JSON")?;
        text.push(b'\n');
        let written = self.to.write_all(&text).and_then(|()| self.to.flush());
        // The kind is kept: a reader that left is no failure.
        written
            .map_err(|e| std::io::Error::new(e.kind(), format!("cannot write to {}: {e}", self.name)).into())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.to.flush().with_context(|| format!("cannot write to {}", self.name))
    }
}

/// A completion as it is told.
pub(super) fn said<'a>(
    tokenizer: &Tokenizer,
    (line, id, sample): (u64, Option<&'a Value>, usize),
    completion: &'a Completion,
    stops: &[String],
    logprobs: bool,
) -> Said<'a> {
    let alternatives = |at: &Vec<merit_model::TokenLogprob>| {
        let told = |one: &merit_model::TokenLogprob| Alternative {
            token: one.token,
            text: tokenizer.decode_with_specials(&[one.token]),
            logprob: one.logprob,
        };
        at.iter().map(told).collect()
    };
    let top = (!completion.top_logprobs.is_empty())
        .then(|| completion.top_logprobs.iter().map(alternatives).collect());
    Said {
        line,
        id,
        sample,
        text: text(tokenizer, completion, stops),
        tokens: &completion.tokens,
        finish: finish(completion.stop),
        logprobs: logprobs.then_some(&*completion.logprobs),
        top_logprobs: top,
    }
}

/// What was said; a token may reach past the stop text, the text does not.
fn text(tokenizer: &Tokenizer, completion: &Completion, stops: &[String]) -> String {
    let mut text = tokenizer.decode(&completion.tokens);
    if completion.stop == StopReason::StopString {
        let ends = stops.iter().filter_map(|stop| text.find(stop.as_str()).map(|at| at + stop.len()));
        if let Some(end) = ends.min() {
            text.truncate(end);
        }
    }
    text
}

fn finish(stop: StopReason) -> &'static str {
    match stop {
        StopReason::StopString => "stop-string",
        StopReason::StopToken => "stop-token",
        StopReason::MaxTokens => "max-tokens",
        StopReason::ContextFull => "context-full",
        StopReason::ConstraintMet => "constraint-met",
    }
}
