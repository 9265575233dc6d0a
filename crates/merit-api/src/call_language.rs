//! How calls of tools are written in what a policy says.
//!
//! A record holds what a policy said as text, in the environment's own language. Servers of models have calls of their own: a
//! name, arguments as JSON, an answer of its own role. A [`CallLanguage`] goes between the two, so that a model behind such a
//! server acts in the same environment and leaves the same record. Commands of a text world, which no tool answers, are called
//! like tools: see [`CommandCard`].

use crate::command_card::as_written;
use crate::{CommandCard, ToolSpec, line};
use merit_core::{ToolCall, canonical};
use std::fmt;

/// How the calls of one task are written and read.
pub trait CallLanguage: Send + Sync {
    /// The tools that may be called.
    fn tools(&self) -> &[ToolSpec];

    /// What a policy says to make these calls. What it says beside them comes first, where the language has a place for it.
    fn write(&self, said: &str, calls: &[ToolCall]) -> String;

    /// What a turn says beside its calls, and the calls. Absent: it makes none that can be understood.
    fn read(&self, text: &str) -> Option<(String, Vec<ToolCall>)>;

    /// What a tool answered, out of the words in which the environment shows it.
    fn answered(&self, tool: &str, shown: &str) -> String {
        let _ = tool;
        shown.to_owned()
    }

    /// The part of the instructions that tells the tools and how to call them. Empty: there is none.
    fn advert(&self) -> String {
        String::new()
    }

    /// Whether one turn may hold several calls.
    fn takes_several(&self) -> bool {
        true
    }
}

impl fmt::Debug for dyn CallLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.tools().iter().map(|tool| &tool.name);
        f.debug_list().entries(names).finish()
    }
}

/// Two languages are the same when they call the same tools and tell them the same way.
impl PartialEq for dyn CallLanguage {
    fn eq(&self, other: &Self) -> bool {
        self.tools() == other.tools() && self.advert() == other.advert()
    }
}

/// Calls of one line: of a tool as the world writes it, or a command of the world. Line breaks of an input become spaces.
pub(crate) struct LineCalls<P, W> {
    /// Tools, and behind them the commands.
    specs: Vec<ToolSpec>,
    tools: usize,
    commands: Vec<CommandCard>,
    parse: P,
    /// The line of a tool's call.
    written: W,
}

impl<P, W> LineCalls<P, W>
where
    P: Fn(&str) -> Option<Vec<ToolCall>> + Send + Sync,
    W: Fn(&ToolCall) -> String + Send + Sync,
{
    /// The language of these tools and commands, where `parse` reads the calls of the tools. Absent: it reads another.
    pub(crate) fn of(
        mut specs: Vec<ToolSpec>,
        commands: Vec<CommandCard>,
        parse: P,
        written: W,
    ) -> Option<Self> {
        let tools = specs.len();
        specs.extend(commands.iter().map(|card| card.spec().clone()));
        let language = Self { specs, tools, commands, parse, written };
        let reads = |tool: &ToolSpec| {
            let call = ToolCall { tool: tool.name.clone(), input: tool.example.clone() };
            let line = language.write("", std::slice::from_ref(&call));
            language.read(&line).is_some_and(|(_, calls)| calls == [call])
        };
        let understood = language.specs.iter().take(tools).all(reads);
        understood.then_some(language)
    }

    /// The call that a line is by the commands.
    fn command(&self, line: &str) -> Option<ToolCall> {
        let call = |card: &CommandCard, input: String| ToolCall { tool: card.spec().name.clone(), input };
        let read = |card: &CommandCard| Some(call(card, canonical(&card.read(line)?)));
        let as_written = |card: &CommandCard| {
            let rest = line.strip_prefix(card.spec().name.as_str())?.strip_prefix('(')?;
            Some(call(card, rest.strip_suffix(')')?.to_owned()))
        };
        let mut cards = self.commands.iter();
        cards.find_map(read).or_else(|| self.commands.iter().find_map(as_written))
    }
}

impl<P, W> CallLanguage for LineCalls<P, W>
where
    P: Fn(&str) -> Option<Vec<ToolCall>> + Send + Sync,
    W: Fn(&ToolCall) -> String + Send + Sync,
{
    fn tools(&self) -> &[ToolSpec] {
        &self.specs
    }

    fn write(&self, _said: &str, calls: &[ToolCall]) -> String {
        let Some(call) = calls.first() else { return String::new() };
        match self.commands.iter().find(|card| card.spec().name == call.tool) {
            Some(card) => card.said(&call.input),
            None if self.tools == 0 && !self.commands.is_empty() => as_written(&call.tool, &call.input),
            None => (self.written)(call).replace(['\n', '\r'], " "),
        }
    }

    fn read(&self, text: &str) -> Option<(String, Vec<ToolCall>)> {
        let line = line(text);
        let calls = (self.parse)(text)
            .or_else(|| self.command(line).filter(|_| !line.contains(['\n', '\r'])).map(|call| vec![call]));
        calls.map(|calls| (String::new(), calls))
    }

    fn takes_several(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Option<Vec<ToolCall>> {
        let (tool, input) = text.split_once(' ')?;
        Some(vec![ToolCall { tool: tool.to_owned(), input: input.to_owned() }])
    }

    fn line_of(call: &ToolCall) -> String {
        format!("{} {}", call.tool, call.input)
    }

    #[test]
    fn a_line_is_a_call_and_only_where_the_game_reads_it_so() {
        let spec = ToolSpec::text("sql", "asks", "query", "a query", "select 1");
        let language = LineCalls::of(vec![spec.clone()], Vec::new(), words, line_of).unwrap();
        let call = ToolCall { tool: "sql".into(), input: "select\n2".into() };
        assert_eq!(language.write("beside", &[call.clone(), call]), "sql select 2");
        assert!(!language.takes_several());
        assert!(LineCalls::of(vec![spec], Vec::new(), |_: &str| None, line_of).is_none());
        let none = LineCalls::of(Vec::new(), Vec::new(), words, line_of);
        assert!(none.is_some_and(|language| language.tools().is_empty()));
    }

    #[test]
    fn a_command_is_its_line_and_what_is_none_is_kept_as_it_was_called() {
        let ask =
            CommandCard::new("ask", "Asks.").one_of("fact", "what for", ["name", "town"]).example("ask name");
        let language = LineCalls::of(Vec::new(), vec![ask], |_: &str| None, line_of).unwrap();
        let call = |tool: &str, input: &str| ToolCall { tool: tool.into(), input: input.into() };
        let cases = [
            ("ask name", call("ask", r#"{"fact":"name"}"#)),
            ("ask age", call("ask", r#"{"fact":"age"}"#)),
            (r#"ask({"fct":"name"})"#, call("ask", r#"{"fct":"name"}"#)),
        ];
        for (line, call) in cases {
            assert_eq!(language.write("", std::slice::from_ref(&call)), line);
            assert_eq!(language.read(line), Some((String::new(), vec![call])), "{line}");
        }
        assert_eq!(language.write("", &[call("fly", "{}")]), "fly({})");
        assert_eq!(
            (language.read("fly({})"), language.read("hello"), language.read("ask name\nask town")),
            (None, None, None)
        );
    }
}
