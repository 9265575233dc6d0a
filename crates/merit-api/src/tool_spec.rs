//! What a tool says of itself to agents and people: its name, one line of help, what its input is, and an example.
//!
//! A tool takes one text. Where an agent's format carries JSON arguments, [`Arguments`] turns them into that text and back, so
//! that the same tool serves plain and JSON formats, and a call is recorded the same way however it was written.

use merit_core::canonical;
use serde_json::{Map, Value, json};

/// What a tool says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// The name that agents call it by.
    pub name: String,
    /// What it does, in one line.
    pub summary: String,
    /// Whether its input is a text or a JSON object, and which.
    pub arguments: Arguments,
    /// A good input, shown to people and used by the conformance checks.
    pub example: String,
}

/// What a tool's input is.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// Any text. As JSON it is an object with one string, the property of this name.
    Text {
        /// The property's name, such as `code`.
        property: String,
        /// What the text should be, in a few words.
        about: String,
    },
    /// The text of a JSON object that fits this schema.
    Json {
        /// A JSON Schema of type `object`.
        schema: Value,
    },
}

impl ToolSpec {
    /// The description of a tool that takes plain text.
    pub fn text(name: &str, summary: &str, property: &str, about: &str, example: &str) -> Self {
        let arguments = Arguments::Text { property: property.to_owned(), about: about.to_owned() };
        Self { name: name.to_owned(), summary: summary.to_owned(), arguments, example: example.to_owned() }
    }

    /// The description of a tool that takes a JSON object.
    pub fn json(name: &str, summary: &str, schema: Value, example: &Value) -> Self {
        let arguments = Arguments::Json { schema };
        Self { name: name.to_owned(), summary: summary.to_owned(), arguments, example: canonical(example) }
    }
}

impl Arguments {
    /// The JSON Schema of the arguments.
    pub fn schema(&self) -> Value {
        match self {
            Self::Text { property, about } => json!({
                "type": "object",
                "properties": { property: { "type": "string", "description": about } },
                "required": [property],
                "additionalProperties": false,
            }),
            Self::Json { schema } => schema.clone(),
        }
    }

    /// The input that these JSON arguments stand for; the error is a text that the agent can learn from.
    ///
    /// ```
    /// use merit_api::Arguments;
    /// let code = Arguments::Text { property: "code".into(), about: "a program".into() };
    /// assert_eq!(code.input(&serde_json::json!({ "code": "print(1)" })), Ok("print(1)".to_owned()));
    /// assert!(code.input(&serde_json::json!({ "cod": "print(1)" })).unwrap_err().contains("`code`"));
    /// ```
    pub fn input(&self, arguments: &Value) -> Result<String, String> {
        let Some(given) = arguments.as_object() else {
            return Err("the arguments must be a JSON object".to_owned());
        };
        match self {
            Self::Text { property, .. } => text_of(given, property),
            Self::Json { .. } => Ok(canonical(arguments)),
        }
    }

    /// The JSON arguments that an input stands for.
    pub fn arguments(&self, input: &str) -> Result<Value, String> {
        match self {
            Self::Text { property, .. } => Ok(json!({ property: input })),
            Self::Json { .. } => match serde_json::from_str(input) {
                Ok(Value::Object(map)) => Ok(Value::Object(map)),
                Ok(_) => Err("the input must be a JSON object".to_owned()),
                Err(error) => Err(format!("the input is not JSON: {error}")),
            },
        }
    }
}

fn text_of(given: &Map<String, Value>, property: &str) -> Result<String, String> {
    if let Some(other) = given.keys().find(|key| *key != property) {
        let shown: String = other.chars().take(40).collect();
        return Err(format!("unknown argument `{shown}`; give `{property}` alone"));
    }
    match given.get(property) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(_) => Err(format!("argument `{property}` must be a string")),
        None => Err(format!("argument `{property}` is missing")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_written_in_any_order_are_one_input() {
        let spec = ToolSpec::json("t", "", json!({ "type": "object" }), &json!({ "b": 1, "a": [2] }));
        let input = spec.arguments.input(&serde_json::from_str(r#"{ "b": 1, "a": [2] }"#).unwrap());
        assert_eq!(input, Ok(r#"{"a":[2],"b":1}"#.to_owned()));
        assert_eq!(spec.example, r#"{"a":[2],"b":1}"#);
    }

    #[test]
    fn a_text_and_its_json_form_are_the_same_call() {
        let arguments = ToolSpec::text("t", "", "query", "words", "x").arguments;
        let json = arguments.arguments("two words").unwrap();
        assert_eq!(arguments.input(&json), Ok("two words".to_owned()));
        assert!(arguments.input(&json!(["two words"])).unwrap_err().contains("object"));
        assert!(
            arguments.input(&json!({ "query": "x", "k": 3 })).unwrap_err().contains("unknown argument `k`")
        );
    }
}
