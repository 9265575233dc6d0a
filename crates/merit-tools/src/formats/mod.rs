//! Tool calls in the formats that models really emit: read, written, advertised and answered.
//!
//! In: what a policy said in one turn, and the cards of its tools. Out: the text outside the calls and the calls, whose
//! inputs are canonical whatever the format; or a [`MalformedCall`] in few words that shows the right form once. A format is
//! one file with a [`CallFormat`] and one line in the registry. Only what can mean one thing is repaired (see `literal`); an
//! unknown tool is still a call, which the engine refuses with the nearest name. Reading never panics, takes time linear in
//! the text, and stops at [`MAX_CALLS`] calls.

mod advertise;
mod auto;
mod code_tags;
mod fence;
mod fenced;
mod finish;
mod hermes;
mod hide;
mod literal;
mod llama3;
mod malformed;
mod mistral;
mod pythonic;
mod registry;
mod schema;
mod turn;

pub use auto::Auto;
pub use code_tags::CodeTags;
pub use fenced::Fenced;
pub use hermes::Hermes;
pub use llama3::Llama3Json;
pub use malformed::{MAX_TEXT, MalformedCall};
pub use mistral::{Mistral, MistralForm};
pub use pythonic::Pythonic;
pub use registry::{CALL_FORMATS, call_format};
pub use turn::{MAX_CALLS, ParsedTurn};

use crate::ToolSpec;
use merit_core::{About, ToolCall};

/// A way of writing tool calls.
pub trait CallFormat: Send + Sync {
    /// Name, one line of help, paper.
    fn about(&self) -> About;

    /// Why these tools cannot be called in this format, if they cannot.
    fn serves(&self, cards: &[ToolSpec]) -> Result<(), String> {
        let _ = cards;
        Ok(())
    }

    /// What a turn means. A thought in `<think>` at its start is never a call.
    ///
    /// ```
    /// use merit_tools::formats::call_format;
    /// let cards = [merit_tools::Tool::spec(&merit_tools::Calculator).clone()];
    /// let hermes = call_format("hermes").unwrap();
    /// let said = "So: <tool_call>\n{\"name\": \"calc\", \"arguments\": {\"expression\": \"3*47\"}}\n</tool_call>";
    /// let turn = hermes.parse(said, &cards).unwrap();
    /// assert_eq!((turn.said.as_str(), turn.calls[0].input.as_str()), ("So:", "3*47"));
    /// let wrong = hermes.parse("<tool_call>{\"name\": \"calc\"}</tool_call>", &cards).unwrap_err();
    /// assert!(wrong.why.starts_with("the call has no `arguments`; write <tool_call>"), "{wrong}");
    /// ```
    fn parse(&self, text: &str, cards: &[ToolSpec]) -> Result<ParsedTurn, MalformedCall>;

    /// How the tools are told to the model.
    fn advertise(&self, cards: &[ToolSpec]) -> String;

    /// What a model says to make these calls. Reading it gives the same calls.
    fn write(&self, calls: &[ToolCall], cards: &[ToolSpec]) -> String;

    /// The shape of a call in general, for when an example would be too long.
    fn shape(&self) -> &'static str;

    /// How the answer of a tool is shown.
    fn answer(&self, tool: &str, output: &str) -> String;

    /// Strings that end a turn; they may stand at the end of what is parsed.
    fn stops(&self) -> Vec<String>;
}
