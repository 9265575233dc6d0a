//! How calls of tools are written in what a policy says.
//!
//! A record holds what a policy said as text, in the environment's own language. Servers of models have calls of their own: a
//! name, arguments as JSON, an answer of its own role. A [`CallLanguage`] goes between the two, so that a model behind such a
//! server acts in the same environment and leaves the same record.

use crate::ToolSpec;
use merit_core::ToolCall;
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

/// Calls of one line, the tool's name before its input. Line breaks of an input become spaces.
pub(crate) struct LineCalls<P> {
    tools: Vec<ToolSpec>,
    parse: P,
}

impl<P: Fn(&str) -> Option<Vec<ToolCall>> + Send + Sync> LineCalls<P> {
    /// The language of these tools, where `parse` reads it. Absent: it reads another.
    pub(crate) fn of(tools: Vec<ToolSpec>, parse: P) -> Option<Self> {
        let language = Self { tools, parse };
        let reads = |tool: &ToolSpec| {
            let call = ToolCall { tool: tool.name.clone(), input: tool.example.clone() };
            let line = language.write("", std::slice::from_ref(&call));
            language.read(&line).is_some_and(|(_, calls)| calls == [call])
        };
        let understood = language.tools.iter().all(reads);
        understood.then_some(language)
    }
}

impl<P: Fn(&str) -> Option<Vec<ToolCall>> + Send + Sync> CallLanguage for LineCalls<P> {
    fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    fn write(&self, _said: &str, calls: &[ToolCall]) -> String {
        let line = |call: &ToolCall| format!("{} {}", call.tool, call.input.replace(['\n', '\r'], " "));
        calls.first().map(line).unwrap_or_default()
    }

    fn read(&self, text: &str) -> Option<(String, Vec<ToolCall>)> {
        (self.parse)(text).map(|calls| (String::new(), calls))
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

    #[test]
    fn a_line_is_a_call_and_only_where_the_game_reads_it_so() {
        let spec = ToolSpec::text("sql", "asks", "query", "a query", "select 1");
        let language = LineCalls::of(vec![spec.clone()], words).unwrap();
        let call = ToolCall { tool: "sql".into(), input: "select\n2".into() };
        assert_eq!(language.write("beside", &[call.clone(), call]), "sql select 2");
        assert!(!language.takes_several());
        assert!(LineCalls::of(vec![spec], |_: &str| None).is_none());
        assert!(LineCalls::of(Vec::new(), words).is_some_and(|language| language.tools().is_empty()));
    }
}
