//! What a gate or a veto looks at: a term of the same reward by its name, or an expression of its own.
//!
//! By name, the term's raw value decides, before its weight, so that changing a weight moves no threshold. An expression
//! decides by what it comes to; its terms are part of the score like all others.

use crate::config::RewardConfig;
use crate::expression::{Node, NodeContext, evaluate_as};
use crate::trace::Tracer;
use crate::value::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The `when` of a gate or a veto.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Condition {
    /// The raw value of the term of this name, wherever it stands in the reward.
    Term(String),
    /// What this expression comes to.
    Expression(Box<RewardConfig>),
}

impl Condition {
    /// The expression, where it is one.
    pub fn children(&self) -> Option<&RewardConfig> {
        match self {
            Self::Term(_) => None,
            Self::Expression(config) => Some(config),
        }
    }
}

impl JsonSchema for Condition {
    fn schema_name() -> Cow<'static, str> {
        "condition".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let name = json_schema!({
            "description": "The raw value of the term of this name, wherever it stands in the reward.",
            "type": "string",
        });
        json_schema!({
            "description": "The name of a term of this reward, or a reward of its own.",
            "anyOf": [name, generator.subschema_for::<RewardConfig>()],
        })
    }
}

// By hand, because an untagged enum would answer every mistake inside the expression with "did not match any variant".
impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ConditionVisitor)
    }
}

struct ConditionVisitor;

impl<'de> Visitor<'de> for ConditionVisitor {
    type Value = Condition;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a term, or an expression with a `type`")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Condition, E> {
        Ok(Condition::Term(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Condition, A::Error> {
        let config = RewardConfig::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Condition::Expression(Box::new(config)))
    }
}

/// A compiled condition.
pub enum Deciding {
    /// The raw value of the term at this position.
    Term(usize),
    /// What this part comes to.
    Expression(Node),
}

impl Deciding {
    /// The value that it decides by: a term's, before any weight, or an expression's.
    pub fn evaluate(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        match self {
            Self::Term(term) => {
                tracer.reads(*term);
                tracer.enter(Some("when"));
                let value = context.raw(*term).sound();
                tracer.leave(|| format!("raw {}", context.scores[*term].name), &value);
                value
            }
            Self::Expression(part) => evaluate_as("when", part.as_ref(), context, tracer),
        }
    }
}
