//! Whatever format a turn is in: the one whose mark stands first, and only where nothing else is meant as well.
//!
//! Marks, the earlier in this order where two stand at one place: `<tool_call>` (hermes), `[TOOL_CALLS]` (mistral),
//! `<|python_tag|>` or a line that begins with an object of name and parameters (llama3-json), a line that begins with `[name(`
//! (pythonic), `<code>` where there is a tool `python` (code-tags), and a fenced block of a tool (fenced). A mark of another
//! format outside the calls makes the turn malformed. Calls are advertised, written and answered as `hermes` does.

use super::code_tags::CodeTags;
use super::fenced::Fenced;
use super::hermes::Hermes;
use super::llama3::Llama3Json;
use super::mistral::{Mistral, MistralForm};
use super::pythonic::Pythonic;
use super::turn::Reading;
use super::{CallFormat, MalformedCall, ParsedTurn};
use crate::ToolSpec;
use merit_core::registry::Component;
use merit_core::{About, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// What the registry says of it.
pub(super) const ABOUT: About = About {
    name: "auto",
    summary: "Any of the other formats, by the mark that stands first; mixed turns are malformed.",
    paper: "",
};

/// `auto`: it has no settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Auto {}

impl Component for Auto {
    const ABOUT: About = ABOUT;
}

static CODE_TAGS: LazyLock<CodeTags> = LazyLock::new(CodeTags::default);
static FENCED: LazyLock<Fenced> = LazyLock::new(Fenced::default);

impl Auto {
    /// The format whose mark stands first.
    fn first(text: &str, cards: &[ToolSpec]) -> Option<&'static dyn CallFormat> {
        let marks: [(Option<usize>, &'static dyn CallFormat); 6] = [
            (Hermes::begins(text), &Hermes {}),
            (Mistral::begins(text), &Mistral { form: MistralForm::Array }),
            (Llama3Json::begins(text), &Llama3Json {}),
            (Pythonic::begins(text), &Pythonic {}),
            (CODE_TAGS.begins(text, cards), &*CODE_TAGS),
            (FENCED.begins(text, cards), &*FENCED),
        ];
        let found = marks.into_iter().filter_map(|(at, format)| Some((at?, format)));
        found.min_by_key(|(at, _)| *at).map(|(_, format)| format)
    }
}

impl CallFormat for Auto {
    fn about(&self) -> About {
        ABOUT
    }

    fn parse(&self, text: &str, cards: &[ToolSpec]) -> Result<ParsedTurn, MalformedCall> {
        let reading = Reading::open(text, &[])?;
        let Some(format) = Self::first(reading.rest(), cards) else { return Hermes {}.parse(text, cards) };
        let turn = format.parse(text, cards)?;
        let outside = Reading::open(&turn.said, &[])?;
        match Self::first(outside.rest(), cards) {
            Some(other) if !turn.calls.is_empty() => {
                let (one, two) = (format.about().name, other.about().name);
                let what = format!("calls in two formats, `{one}` and `{two}`; use one in a turn");
                Err(MalformedCall::teach(&Hermes {}, &what, cards.first()))
            }
            _ => Ok(turn),
        }
    }

    fn advertise(&self, cards: &[ToolSpec]) -> String {
        Hermes {}.advertise(cards)
    }

    fn write(&self, calls: &[ToolCall], cards: &[ToolSpec]) -> String {
        Hermes {}.write(calls, cards)
    }

    fn shape(&self) -> &'static str {
        Hermes {}.shape()
    }

    fn answer(&self, tool: &str, output: &str) -> String {
        Hermes {}.answer(tool, output)
    }

    fn stops(&self) -> Vec<String> {
        Hermes {}.stops()
    }
}
