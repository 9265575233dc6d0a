//! The options of Math-Verify 0.9.0, by its names and with its defaults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What Math-Verify's `parse` and `verify` are given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MathVerifyOptions {
    /// Where answers are looked for; of equal priority, later matches in the text come first.
    pub targets: Vec<Target>,
    /// Whether the next match is tried when the best one cannot be parsed.
    pub extraction: ExtractionMode,
    /// Whether the text of the first match is compared as text besides what it parsed to.
    pub fallback: FallbackMode,
    /// Digits after the point to which a decimal number is compared.
    pub float_rounding: u32,
    /// Significant digits to which other closed expressions are compared.
    pub numeric_precision: u32,
    /// Whether the names of variables matter.
    pub strict: bool,
    /// Whether an inequality in the response may stand for a set in the reference. The other way round it always may.
    pub allow_set_relation_comp: bool,
}

impl Default for MathVerifyOptions {
    fn default() -> Self {
        Self {
            targets: vec![Target::Latex(LatexTarget::default()), Target::Expr(ExprTarget::default())],
            extraction: ExtractionMode::AnyMatch,
            fallback: FallbackMode::FirstMatch,
            float_rounding: 6,
            numeric_precision: 15,
            strict: true,
            allow_set_relation_comp: false,
        }
    }
}

/// How far the search for an answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExtractionMode {
    /// Only the best match.
    FirstMatch,
    /// The best match that can be parsed.
    AnyMatch,
}

/// What is kept of the matched text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FallbackMode {
    /// The matched text is not kept.
    NoFallback,
    /// The first match, whether or not it parsed.
    FirstMatch,
}

/// A kind of answer that is looked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Target {
    /// LaTeX between delimiters or in a box.
    Latex(LatexTarget),
    /// Numbers and arithmetic in plain text.
    Expr(ExprTarget),
    /// One of a few given strings.
    String(StringTarget),
}

/// How LaTeX is looked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LatexTarget {
    /// Whether LaTeX counts without words like "the answer" before it.
    pub try_extract_without_anchor: bool,
    /// Priority of boxes, lowest first: 0 beside "final answer is … I hope", 50 beside "final answer … is". Negative: boxes
    /// are not looked for.
    pub boxed_match_priority: i32,
}

impl Default for LatexTarget {
    fn default() -> Self {
        Self { try_extract_without_anchor: true, boxed_match_priority: 50 }
    }
}

/// How plain arithmetic is looked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExprTarget {
    /// Whether numbers count without words like "the answer" before them.
    pub try_extract_without_anchor: bool,
}

impl Default for ExprTarget {
    fn default() -> Self {
        Self { try_extract_without_anchor: true }
    }
}

/// How given strings are looked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StringTarget {
    /// The strings that are looked for.
    pub strings: Vec<String>,
    /// Whether they count without words like "the answer" before them.
    pub try_extract_without_anchor: bool,
    /// Whether what was found is compared in lower case.
    pub lowercase: bool,
}

impl Default for StringTarget {
    fn default() -> Self {
        let strings = ["A", "B", "C", "D"].map(String::from).to_vec();
        Self { strings, try_extract_without_anchor: true, lowercase: true }
    }
}
