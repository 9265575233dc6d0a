//! Components by name: what is read, what is refused, and what a caller adds.

use merit_core::registry::{
    About, Chosen, Component, Components, Entry, JsonSchema, Kind, Refusal, document,
};
use merit_core::{entry, registry};
use serde::{Deserialize, Serialize};

trait Rule: Send + Sync {
    fn apply(&self, x: f64) -> f64;
}

impl Kind for dyn Rule {
    const KIND: &'static str = "rule";
}

mod shipped {
    pub(super) use super::*;

    registry! {
        /// The shipped rules.
        pub(super) static RULES: dyn Rule = [];
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Scale {
    /// What is
    /// multiplied with.
    factor: f64,
    extra: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    #[serde(alias = "other")]
    #[schemars(extend("aliases" = ["other"]))]
    third: f32,
}

impl Default for Scale {
    fn default() -> Self {
        Self { factor: 0.0, extra: Vec::new(), share: None, third: 0.3 }
    }
}

impl Component for Scale {
    const ABOUT: About = About { name: "scale", summary: "Multiplies.", paper: "" };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.factor >= 0.0, "factor", self.factor, "0 or above")
    }
}

impl Rule for Scale {
    fn apply(&self, x: f64) -> f64 {
        self.factor * x
    }
}

#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
struct Document {
    steps: u32,
    rule: Chosen<dyn Rule>,
}

fn components() -> Components {
    Components::default().with_all(shipped::RULES).with(entry!(Scale as dyn Rule))
}

fn read(text: &str) -> Result<Document, String> {
    components().reading(|| toml::from_str(text)).map_err(|e: toml::de::Error| e.message().to_owned())
}

#[test]
fn a_callers_component_is_read_like_a_shipped_one_and_written_back_with_its_defaults() {
    let document = read("steps = 1\n[rule]\ntype = \"scale\"\nfactor = 2\n").unwrap();
    assert_eq!(document.rule.apply(3.0), 6.0);
    assert_eq!(
        toml::to_string(&document).unwrap(),
        "steps = 1\n\n[rule]\ntype = \"scale\"\nfactor = 2.0\nextra = []\nthird = 0.3\n"
    );
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest() {
    let error = read("steps = 1\n[rule]\ntype = \"scael\"\n").unwrap_err();
    assert_eq!(error, "unknown rule `scael` (did you mean `scale`?); `merit list` shows what there is");
}

#[test]
fn an_unknown_key_and_a_value_that_cannot_work_are_refused_where_they_are_read() {
    let error = read("steps = 1\n[rule]\ntype = \"scale\"\nfaktor = 2\n").unwrap_err();
    assert!(error.starts_with("unknown field `faktor`, expected one of `factor`"), "{error}");
    let error = read("steps = 1\n[rule]\ntype = \"scale\"\nfactor = -1.0\n").unwrap_err();
    assert_eq!(error, "`scale`: `factor` is -1; it must be 0 or above");
}

#[test]
fn a_name_alone_is_the_component_with_its_defaults() {
    let document = read("steps = 1\nrule = \"scale\"\n").unwrap();
    assert_eq!(document, read("steps = 1\nrule = { type = \"scale\" }\n").unwrap());
    let error = read("steps = 1\nrule = 3\n").unwrap_err();
    assert_eq!(error, "a rule is a table or a name, not a integer");
}

#[test]
fn outside_of_reading_no_component_is_known() {
    let error = toml::from_str::<Document>("steps = 1\nrule = { type = \"scale\" }").unwrap_err();
    assert!(error.message().starts_with("unknown rule `scale`"), "{error}");
}

#[test]
fn the_last_component_of_a_name_counts() {
    let doubled = Entry::<dyn Rule> {
        about: About { summary: "Another.", ..Scale::ABOUT },
        ..entry!(Scale as dyn Rule)
    };
    let components = components().with(doubled);
    let summaries: Vec<&str> = components.entries::<dyn Rule>().iter().map(|e| e.about.summary).collect();
    assert_eq!(summaries, ["Another."]);
}

#[test]
fn a_document_says_its_keys_with_defaults_and_the_names_it_may_hold() {
    let schema = document::<Document>(&components());
    assert_eq!(schema["required"], serde_json::json!(["steps", "rule"]));
    assert_eq!(schema["properties"]["rule"]["$ref"], "#/$defs/rule");
    let choices = &schema["$defs"]["rule"]["oneOf"];
    assert_eq!(choices[0]["enum"], serde_json::json!(["scale"]));
    assert_eq!(choices[1]["$ref"], "#/$defs/rule.scale");
    let scale = &schema["$defs"]["rule.scale"];
    assert_eq!(
        (&scale["description"], &scale["additionalProperties"]),
        (&"Multiplies.".into(), &false.into())
    );
    assert_eq!(scale["required"], serde_json::json!(["type"]));
    let (factor, share) = (&scale["properties"]["factor"], &scale["properties"]["share"]);
    assert_eq!(
        (&factor["description"], &factor["default"]),
        (&"What is multiplied with.".into(), &0.0.into())
    );
    // An `Option` is a key that may be left out: TOML has no null. An `f32` has the digits that were typed.
    assert_eq!((&share["type"], &share["default"]), (&"number".into(), &serde_json::Value::Null));
    assert_eq!(scale["properties"]["third"]["default"], 0.3);
    assert_eq!(scale["properties"]["other"]["deprecated"], true);
}

/// A key that must be given.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is read")]
struct Required {
    /// How fast.
    #[schemars(extend("aliases" = ["lr"]))]
    learning_rate: f64,
}

#[test]
fn a_required_key_may_be_given_in_another_spelling() {
    let schema = document::<Required>(&components());
    assert_eq!(schema["required"], serde_json::json!([]));
    let either = [["learning_rate"], ["lr"]].map(|key| serde_json::json!({ "required": key }));
    assert_eq!(schema["allOf"], serde_json::json!([{ "anyOf": either }]));
}
