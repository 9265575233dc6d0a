//! A command of a text world as a tool: what stands in a line, as a name with arguments, and back.
//!
//! A text world is played by lines, `move 14 rome`. A model whose server has calls of its own sends a name and arguments instead, and a
//! card says which line they are: its verb, then its arguments in their order. Whether the line means anything is for the world to say,
//! which reads it as it reads any other; a card judges nothing.

use crate::ToolSpec;
use merit_core::canonical;
use serde_json::{Map, Value, json};

/// A command of a text world: what begins its lines, and what stands in them.
///
/// ```
/// use merit_api::CommandCard;
/// use serde_json::json;
/// let card = CommandCard::new("move", "Sends an open order to another town.")
///     .number("order", "its number")
///     .one_of("town", "where it goes", ["rome", "bonn"])
///     .example("move 14 rome");
/// let arguments = json!({ "order": 14, "town": "rome" });
/// assert_eq!(card.line(&arguments).as_deref(), Some("move 14 rome"));
/// assert_eq!(card.read("move 14 rome"), Some(arguments));
/// assert_eq!(card.line(&json!({ "order": 14 })), None);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CommandCard {
    spec: ToolSpec,
    pieces: Vec<Piece>,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    /// A word that always stands there.
    Fixed(String),
    /// An argument; where it is `optional`, a line may leave it out.
    Slot { name: String, kind: Kind, optional: bool },
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// One word.
    Word,
    /// One word that is a whole number.
    Number,
    /// One of these, or one word that is none of them: the world refuses that.
    OneOf(Vec<String>),
    /// One word or more.
    Text,
}

impl CommandCard {
    /// A command whose lines begin with its name.
    pub fn new(name: &str, summary: &str) -> Self {
        let card = Self::unspoken(name, summary);
        Self { pieces: vec![Piece::Fixed(name.to_owned())], ..card }
    }

    /// A command whose name does not stand in its lines.
    pub fn unspoken(name: &str, summary: &str) -> Self {
        let schema =
            json!({ "type": "object", "properties": {}, "required": [], "additionalProperties": false });
        let spec = ToolSpec::json(name, summary, schema, &json!({}));
        Self { spec, pieces: Vec::new() }
    }

    /// A word that stands there next.
    #[must_use]
    pub fn then(mut self, word: &str) -> Self {
        self.pieces.push(Piece::Fixed(word.to_owned()));
        self
    }

    /// The next argument: one word.
    #[must_use]
    pub fn word(self, name: &str, about: &str) -> Self {
        self.slot(name, Kind::Word, json!({ "type": "string", "description": about }))
    }

    /// The next argument: a whole number.
    #[must_use]
    pub fn number(self, name: &str, about: &str) -> Self {
        self.slot(name, Kind::Number, json!({ "type": "integer", "description": about }))
    }

    /// The next argument: one of these.
    #[must_use]
    pub fn one_of<W: Into<String>>(
        self,
        name: &str,
        about: &str,
        known: impl IntoIterator<Item = W>,
    ) -> Self {
        let known: Vec<String> = known.into_iter().map(Into::into).collect();
        let schema = json!({ "type": "string", "description": about, "enum": known });
        self.slot(name, Kind::OneOf(known), schema)
    }

    /// The next argument: words in a row.
    #[must_use]
    pub fn text(self, name: &str, about: &str) -> Self {
        self.slot(name, Kind::Text, json!({ "type": "string", "description": about }))
    }

    /// The argument that was added last may be left out.
    #[must_use]
    pub fn optional(mut self) -> Self {
        let Some(Piece::Slot { name, optional, .. }) = self.pieces.last_mut() else { return self };
        *optional = true;
        let name = name.clone();
        if let Some(required) = self.required() {
            required.retain(|other| *other != name);
        }
        self
    }

    /// A good line, for people and for the conformance checks.
    #[must_use]
    pub fn example(mut self, line: &str) -> Self {
        // What is no line of this card stays as it is, and the checks tell.
        self.spec.example = self.read(line).map_or_else(|| line.to_owned(), |given| canonical(&given));
        self
    }

    /// The command as a tool that takes a JSON object.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn required(&mut self) -> Option<&mut Vec<Value>> {
        let crate::Arguments::Json { schema } = &mut self.spec.arguments else { return None };
        schema.get_mut("required")?.as_array_mut()
    }

    fn slot(mut self, name: &str, kind: Kind, about: Value) -> Self {
        self.pieces.push(Piece::Slot { name: name.to_owned(), kind, optional: false });
        if let crate::Arguments::Json { schema } = &mut self.spec.arguments
            && let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut)
        {
            properties.insert(name.to_owned(), about);
        }
        if let Some(required) = self.required() {
            required.push(json!(name));
        }
        self
    }

    /// The line of these arguments. Absent: they cannot be told apart in a line: one is missing or unknown, or it has spaces
    /// where one word stands.
    pub fn line(&self, arguments: &Value) -> Option<String> {
        let given = arguments.as_object()?;
        let named = |key: &String| {
            self.pieces.iter().any(|piece| matches!(piece, Piece::Slot { name, .. } if name == key))
        };
        if !given.keys().all(named) {
            return None;
        }
        let mut line: Vec<String> = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Fixed(word) => line.push(word.clone()),
                Piece::Slot { name, kind, optional } => match given.get(name).and_then(words_of) {
                    Some(words) if words.is_empty() && *optional => {}
                    Some(words) if kind.takes(&words) => line.extend(words),
                    None if *optional && given.get(name).is_none_or(Value::is_null) => {}
                    _ => return None,
                },
            }
        }
        Some(line.join(" "))
    }

    /// The arguments of a line. Absent: it is no line of this card.
    pub fn read(&self, line: &str) -> Option<Value> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let strict = !self.pieces.iter().any(|piece| matches!(piece, Piece::Fixed(_)));
        let mut found = Map::new();
        matches(&self.pieces, &words, strict, &mut found).then_some(Value::Object(found))
    }

    /// What is said for a call with this input: its line, or the call as it was written, which no world takes for a line of its own.
    pub(crate) fn said(&self, input: &str) -> String {
        let arguments = serde_json::from_str(input).ok();
        arguments
            .and_then(|arguments| self.line(&arguments))
            .unwrap_or_else(|| as_written(&self.spec.name, input))
    }
}

/// A call that is no line, in a line.
pub(crate) fn as_written(name: &str, input: &str) -> String {
    format!("{name}({})", input.replace(['\n', '\r'], " "))
}

/// The words of an argument; models write a number as a text, and words as a list of them.
fn words_of(value: &Value) -> Option<Vec<String>> {
    let split = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    match value {
        Value::String(text) => Some(split(text)),
        Value::Number(number) => {
            Some(vec![number.as_i64().map_or_else(|| number.to_string(), |n| n.to_string())])
        }
        Value::Array(several) => {
            let scalar = |one: &Value| if one.is_array() { None } else { words_of(one) };
            Some(several.iter().map(scalar).collect::<Option<Vec<_>>>()?.concat())
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
    }
}

impl Kind {
    /// Whether these words can stand there.
    fn takes(&self, words: &[String]) -> bool {
        match self {
            Self::Text => !words.is_empty(),
            Self::OneOf(known) if known.contains(&words.join(" ")) => true,
            Self::Word | Self::Number | Self::OneOf(_) => words.len() == 1,
        }
    }

    /// How many of the words may stand there, the likeliest first.
    fn spans(&self, words: &[&str], strict: bool, is_last: bool) -> Vec<usize> {
        match self {
            Self::Word | Self::Number if words.is_empty() => Vec::new(),
            Self::Word => vec![1],
            Self::Number if strict && words[0].parse::<i64>().is_err() => Vec::new(),
            Self::Number => vec![1],
            Self::OneOf(known) => {
                let fits =
                    |one: &String| one.split(' ').eq(words.iter().copied().take(one.split(' ').count()));
                let found = known.iter().filter(|one| fits(one)).map(|one| one.split(' ').count()).max();
                found.or((!strict && !words.is_empty()).then_some(1)).into_iter().collect()
            }
            Self::Text if words.is_empty() => Vec::new(),
            Self::Text if is_last => vec![words.len()],
            Self::Text => (1..=words.len()).rev().collect(),
        }
    }

    fn value(&self, words: &[&str]) -> Value {
        let text = words.join(" ");
        match self {
            Self::Number => text
                .parse::<i64>()
                .ok()
                .filter(|number| number.to_string() == text)
                .map_or(json!(text), |n| json!(n)),
            Self::Word | Self::OneOf(_) | Self::Text => json!(text),
        }
    }
}

/// Whether the words are these pieces; what stands in the slots is put into `found`.
fn matches(pieces: &[Piece], words: &[&str], strict: bool, found: &mut Map<String, Value>) -> bool {
    let Some((piece, rest)) = pieces.split_first() else { return words.is_empty() };
    match piece {
        Piece::Fixed(word) => words
            .split_first()
            .is_some_and(|(first, after)| first == word && matches(rest, after, strict, found)),
        Piece::Slot { name, kind, optional } => {
            for span in kind.spans(words, strict, rest.is_empty()) {
                let (own, after) = words.split_at(span.min(words.len()));
                if matches(rest, after, strict, found) {
                    found.insert(name.clone(), kind.value(own));
                    return true;
                }
            }
            *optional && matches(rest, words, strict, found)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk() -> CommandCard {
        CommandCard::new("find", "Looks for things.")
            .text("words", "what they are like")
            .then("under")
            .number("price", "less than this")
            .one_of("order", "how they are sorted", ["by age", "by name"])
            .optional()
            .example("find red oak under 4")
    }

    #[test]
    fn a_line_is_its_arguments_and_back() {
        for (line, arguments) in [
            ("find red oak under 4", json!({ "words": "red oak", "price": 4 })),
            ("find red under 4 by age", json!({ "words": "red", "price": 4, "order": "by age" })),
            ("find under under 4", json!({ "words": "under", "price": 4 })),
            ("find red under four", json!({ "words": "red", "price": "four" })),
            ("find red under 4 up", json!({ "words": "red", "price": 4, "order": "up" })),
        ] {
            assert_eq!(desk().read(line), Some(arguments.clone()), "{line}");
            assert_eq!(desk().line(&arguments).as_deref(), Some(line));
        }
        for line in ["find under 4", "find red", "look red under 4", "", "find red under 4 by age now"] {
            assert_eq!(desk().read(line), None, "{line}");
        }
    }

    #[test]
    fn arguments_as_models_write_them_are_the_same_line() {
        for arguments in [
            json!({ "words": ["red", "oak"], "price": "4" }),
            json!({ "words": " red  oak\n", "price": 4, "order": "" }),
        ] {
            assert_eq!(desk().line(&arguments).as_deref(), Some("find red oak under 4"));
        }
    }

    #[test]
    fn what_no_line_can_hold_is_said_as_the_call_that_it_is() {
        for input in [
            "{}",
            "[]",
            "no json",
            r#"{"words":"red","price":{}}"#,
            r#"{"words":"red","price":"4 5"}"#,
            r#"{"words":"red","price":4,"hue":1}"#,
            r#"{"words":true,"price":4}"#,
            r#"{"words":"","price":4}"#,
            r#"{"words":"red","price":null}"#,
        ] {
            assert_eq!(desk().said(input), format!("find({input})"));
        }
        assert_eq!(desk().said("two\nlines"), "find(two lines)");
        assert_eq!(desk().said(r#"{"words":"red","price":4}"#), "find red under 4");
    }

    #[test]
    fn a_command_without_a_verb_reads_only_what_it_knows() {
        let card = CommandCard::unspoken("go", "Takes a step.").one_of("way", "where to", ["up", "down"]);
        assert_eq!(card.read("up"), Some(json!({ "way": "up" })));
        assert_eq!(
            (card.read("sideways"), card.line(&json!({ "way": "up" })).as_deref()),
            (None, Some("up"))
        );
        assert_eq!(card.line(&json!({ "way": "sideways" })).as_deref(), Some("sideways"));
    }

    #[test]
    fn the_schema_tells_every_argument_and_which_are_needed() {
        let schema = desk().spec().arguments.schema();
        assert_eq!(schema["required"], json!(["words", "price"]));
        assert_eq!(schema["properties"]["order"]["enum"], json!(["by age", "by name"]));
        assert_eq!(schema["properties"]["price"]["type"], "integer");
        assert_eq!(desk().spec().example, r#"{"price":4,"words":"red oak"}"#);
    }
}
