//! The configuration of a check of structured output.

use super::limits::{BadLimits, Limits};
use super::path::PathPattern;
use super::schema::{SchemaError, UnknownKeywords};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How structured output is judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JsonConfig {
    /// The JSON Schema to obey. Absent: the layers of structure and types do not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// What to do with keywords of the schema that JSON Schema does not have.
    pub unknown_keywords: UnknownKeywords,
    /// Where the JSON may stand in the output.
    pub extract: Extract,
    /// Strings that hold JSON themselves: they are read in place, so that schema and reference describe what they hold. One
    /// that holds none counts as a failure to parse.
    pub nested: Vec<PathPattern>,
    /// What the content needs to count at all.
    pub gate: Gate,
    /// Whether `{}`, `[]`, `""` and `null` may earn anything where the reference is not the same.
    pub empty: Empty,
    /// How much each layer counts.
    pub weights: Weights,
    /// How fields are compared with the reference.
    pub content: ContentConfig,
    /// Largest input, and most steps of one check.
    pub limits: Limits,
}

/// Where the JSON may stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Extract {
    /// The whole output is JSON and nothing else.
    #[default]
    Whole,
    /// The whole output, or the only fenced block in it.
    Fenced,
    /// As fenced, or the only array or object of the demanded kind anywhere in the text.
    Anywhere,
}

/// What content credit needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// Nothing: right fields in broken JSON count.
    None,
    /// Strict JSON.
    Parsed,
    /// Strict JSON that satisfies the schema, if there is one.
    #[default]
    Valid,
}

/// Whether an empty value may earn credit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Empty {
    /// Only where the reference is the same empty value.
    #[default]
    Refuse,
    /// Like any other value.
    Allow,
}

/// Weights of the layers; those that apply are brought to a sum of 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// Weight of being strict JSON.
    pub parse: f64,
    /// Weight of having the expected keys.
    pub structure: f64,
    /// Values that obey the schema.
    pub types: f64,
    /// Fields that agree with the reference.
    pub content: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self { parse: 0.25, structure: 0.2, types: 0.2, content: 0.35 }
    }
}

/// How fields are compared with the reference.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContentConfig {
    /// What a field costs that the reference does not have.
    pub extra_fields: ExtraFields,
    /// Rules by place; the first that names a place decides, and places without a rule are compared exactly.
    pub fields: Vec<FieldRule>,
}

/// What a field costs that the reference does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExtraFields {
    /// As much as a right field earns.
    #[default]
    Subtract,
    /// They cost nothing.
    Ignore,
}

/// How the places of one pattern are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldRule {
    /// The fields that the rule is for.
    pub path: PathPattern,
    /// How they are compared.
    pub compare: Compare,
}

/// A comparison of one field.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Compare {
    /// Equal, numbers by value.
    Exact,
    /// Numbers within `absolute + relative * |reference|`.
    Number {
        /// The difference that is allowed everywhere.
        #[serde(default)]
        absolute: f64,
        /// Share of the reference.
        #[serde(default)]
        relative: f64,
    },
    /// Text that may differ in case or white space.
    Text {
        /// Upper and lower case are one.
        #[serde(default)]
        ignore_case: bool,
        /// Runs of white space are one blank; none counts at the ends.
        #[serde(default)]
        ignore_space: bool,
    },
    /// An array whose elements may come in any order; each is right as a whole or not at all.
    Unordered,
    /// The field is not compared and earns nothing.
    Ignore,
}

/// A configuration that cannot work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// The schema cannot be used.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The limits cannot be used.
    #[error(transparent)]
    Limits(#[from] BadLimits),
    /// A weight or tolerance is no number of 0 or more.
    #[error("`{name}` is {value}; give a finite number of 0 or more")]
    Negative { name: &'static str, value: f64 },
    /// All layers weigh nothing.
    #[error("every weight that can apply is 0, so no output could earn anything; give one layer a weight")]
    NoWeight,
    /// A comparison that changes nothing.
    #[error("the comparison of `{0}` tolerates nothing; set a tolerance or use `exact`")]
    NoTolerance(String),
}

impl JsonConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.limits.check()?;
        let Weights { parse, structure, types, content } = self.weights;
        let weights = [
            ("weights.parse", parse),
            ("weights.structure", structure),
            ("weights.types", types),
            ("weights.content", content),
        ];
        weights.into_iter().try_for_each(|(name, value)| not_negative(name, value))?;
        let applying =
            if self.schema.is_some() { parse + structure + types + content } else { parse + content };
        if applying <= 0.0 {
            return Err(ConfigError::NoWeight);
        }
        self.content.fields.iter().try_for_each(FieldRule::check)
    }
}

impl FieldRule {
    fn check(&self) -> Result<(), ConfigError> {
        let tolerates_nothing = match self.compare {
            Compare::Number { absolute, relative } => {
                not_negative("absolute", absolute)?;
                not_negative("relative", relative)?;
                absolute == 0.0 && relative == 0.0
            }
            Compare::Text { ignore_case, ignore_space } => !ignore_case && !ignore_space,
            Compare::Exact | Compare::Unordered | Compare::Ignore => false,
        };
        if tolerates_nothing { Err(ConfigError::NoTolerance(self.path.clone().into())) } else { Ok(()) }
    }
}

fn not_negative(name: &'static str, value: f64) -> Result<(), ConfigError> {
    if value.is_finite() && value >= 0.0 { Ok(()) } else { Err(ConfigError::Negative { name, value }) }
}
