//! What a tape holds, as plain data: the tools that were recorded, and their calls.

use super::key::{self, Fingerprint};
use crate::{Arguments, ExecKind, ToolAnswer, ToolSpec};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq)]
pub struct CallEntry {
    /// Tool, settings, task, past and exact input.
    pub strict: Fingerprint,
    /// Tool and normalised input.
    pub loose: Fingerprint,
    pub tool: String,
    /// Of the tool's settings, or of its card where it has none.
    pub digest: Fingerprint,
    pub task: String,
    /// How many calls its episode had made of this source before. Always 0 in a cache.
    pub number: u64,
    pub input: String,
    pub answer: ToolAnswer,
    /// Wall time of the call.
    pub seconds: f64,
    /// When it was recorded, Unix time in milliseconds. For people: nothing depends on it.
    pub recorded_ms: u64,
}

impl CallEntry {
    /// A hash of everything that a replay depends on; a row that does not have it was changed by something else.
    pub(super) fn seal(&self) -> Fingerprint {
        let (kind, text) = key::parts(&self.answer);
        Fingerprint::of(
            "seal",
            &[
                &self.strict.0,
                &self.loose.0,
                self.tool.as_bytes(),
                &self.digest.0,
                self.task.as_bytes(),
                &self.number.to_le_bytes(),
                self.input.as_bytes(),
                kind.as_bytes(),
                text.as_bytes(),
            ],
        )
    }
}

/// A tool as a tape knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct TapedTool {
    /// Of its settings, or of its card where it has none.
    pub digest: Fingerprint,
    /// Which of the tools that these settings describe, from 0.
    pub place: u64,
    /// What it says of itself.
    pub card: ToolSpec,
    /// How it spent its time when it was recorded.
    pub pace: ExecKind,
}

pub(super) fn card_to_json(card: &ToolSpec) -> Value {
    let arguments = match &card.arguments {
        Arguments::Text { property, about } => {
            json!({ "type": "text", "property": property, "about": about })
        }
        Arguments::Json { schema } => json!({ "type": "json", "schema": schema }),
    };
    json!({ "name": card.name, "summary": card.summary, "arguments": arguments, "example": card.example })
}

/// Reads what [`card_to_json`] writes; the error names the field.
pub(super) fn card_from_json(value: &Value) -> Result<ToolSpec, String> {
    let text = |value: &Value, field: &str| {
        let found = value.get(field).and_then(Value::as_str);
        found.map(str::to_owned).ok_or_else(|| format!("its card has no text `{field}`"))
    };
    let given = value.get("arguments").ok_or("its card has no `arguments`")?;
    let arguments = match text(given, "type")?.as_str() {
        "text" => Arguments::Text { property: text(given, "property")?, about: text(given, "about")? },
        "json" => Arguments::Json { schema: given.get("schema").cloned().ok_or("its card has no `schema`")? },
        other => return Err(format!("its card has arguments of type `{other}`")),
    };
    let [name, summary, example] = ["name", "summary", "example"].map(|field| text(value, field));
    Ok(ToolSpec { name: name?, summary: summary?, arguments, example: example? })
}

/// A pace in one word.
pub(super) fn pace_name(pace: ExecKind) -> &'static str {
    match pace {
        ExecKind::Instant => "instant",
        ExecKind::Waiting => "waiting",
        ExecKind::Computing => "computing",
    }
}

/// Reads what [`pace_name`] writes.
pub(super) fn pace_from(name: &str) -> Option<ExecKind> {
    [ExecKind::Instant, ExecKind::Waiting, ExecKind::Computing]
        .into_iter()
        .find(|pace| pace_name(*pace) == name)
}
