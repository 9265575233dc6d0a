//! What a text verifier is asked to measure. One metric per verifier; settings that would do nothing are refused.

use super::{MarkerPair, Normalise};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A text verifier.
///
/// ```
/// let config: merit_verify::text::TextConfig = toml::from_str(r#"
///     pass_at = 0.5
///     [metric]
///     type = "rouge"
///     variant = "l"
/// "#).unwrap();
/// merit_verify::text::TextVerifier::compile(config).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextConfig {
    /// The metric, with its own settings.
    pub metric: Metric,
    /// Which differences do not count. Absent: [`Normalise::default`] for `exact`, `contains` and `f1`,
    /// [`Normalise::running_text`] for `rouge`, `bleu` and `repetition`; the other metrics look at the text as it is and
    /// refuse this setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalise: Option<Normalise>,
    /// A score of at least this passes.
    #[serde(default = "one")]
    pub pass_at: f64,
    /// A response of more characters is refused. Absent: 999 for metrics of short answers (`exact`, `string`, `contains`,
    /// `f1`, `bleu`; DeepEyes refuses answers of 1000 characters), and [`MAX_TEXT_BYTES`](super::MAX_TEXT_BYTES) bytes for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_chars: Option<usize>,
}

fn one() -> f64 {
    1.0
}

/// The metric, with its own settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Metric {
    /// Equal to a reference after normalisation.
    Exact(NoOptions),
    /// Equal to a reference, or begins, ends with or contains it, character by character and without normalisation.
    String(StringConfig),
    /// Contains a reference as whole words, and not among a list of guesses.
    Contains(ContainsConfig),
    /// F1 of the words shared with the best reference, counted as often as they occur (SQuAD).
    F1(TokenConfig),
    /// ROUGE against the best reference.
    Rouge(RougeConfig),
    /// Length-aware BLEU against the best reference.
    Bleu(TokenConfig),
    /// 1 within a window of lengths, falling off linearly outside.
    Length(LengthConfig),
    /// One minus the share of word n-grams that repeat an earlier one.
    Repetition(RepetitionConfig),
    /// 1 when all markers open and close in order.
    Balance(BalanceConfig),
}

/// The settings of a metric that has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}

/// Settings of `f1` and `bleu`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TokenConfig {
    /// How the text is cut into words.
    pub tokens: Tokens,
}

/// How a text is cut into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tokens {
    /// What stands between blanks.
    #[default]
    Words,
    /// The same, but every ideograph, kana or Hangul syllable is a word of its own.
    WordsAndIdeographs,
}

/// Settings of `string`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StringConfig {
    /// Where the reference must stand.
    pub rule: StringRule,
    /// Upper and lower case are the same.
    #[serde(default)]
    pub ignore_case: bool,
}

/// Where the reference must stand in the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StringRule {
    /// It is the response.
    Exact,
    /// At its beginning.
    Prefix,
    /// The text ends with it.
    Suffix,
    /// Anywhere, also inside a word.
    Contains,
}

/// Settings of `contains`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContainsConfig {
    /// The most candidates, the matching one included, that a response may offer before it counts as guessing. Short
    /// items between commas, semicolons, `and` or line breaks are candidates, and so are the words of a bare list.
    pub max_candidates: usize,
    /// Short items joined by `or`, `/` or `|` are guessing, however few.
    pub refuse_alternatives: bool,
    /// The least share of the response's words that the reference must make up.
    pub min_share: f64,
    /// The closed set of answers, where there is one (`["yes", "no"]`): a response that holds an option which is no
    /// reference of the task is guessing. Empty: the set is open.
    pub options: Vec<String>,
    /// A match that stands only behind an English negation (`not Paris`) does not count.
    pub refuse_negated: bool,
}

impl Default for ContainsConfig {
    fn default() -> Self {
        Self {
            max_candidates: 2,
            refuse_alternatives: true,
            min_share: 0.1,
            options: Vec::new(),
            refuse_negated: true,
        }
    }
}

/// Settings of `rouge`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RougeConfig {
    /// What the texts have to share.
    pub variant: RougeVariant,
    /// Which number is the score; all three are in the evidence.
    #[serde(default)]
    pub report: RougeReport,
    /// How the texts are cut into words.
    #[serde(default)]
    pub tokens: Tokens,
}

/// What ROUGE counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RougeVariant {
    /// Single words that both texts have.
    #[serde(rename = "1")]
    One,
    /// Pairs of neighbouring words.
    #[serde(rename = "2")]
    Two,
    /// The longest common subsequence of words.
    #[serde(rename = "l")]
    L,
}

/// Which number of ROUGE is the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RougeReport {
    /// Share of the response.
    Precision,
    /// Share of the reference. Long responses win: bound them.
    Recall,
    /// The harmonic mean of both.
    #[default]
    F,
}

/// Settings of `length`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LengthConfig {
    /// The unit that is counted.
    pub unit: LengthUnit,
    /// Shortest length that scores 1; at least 1.
    pub min: usize,
    /// Longest length that scores 1.
    pub max: usize,
    /// Units outside the window after which the score is 0. 0: at once.
    #[serde(default)]
    pub decay: usize,
}

/// What a length counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LengthUnit {
    /// Unicode scalar values.
    Chars,
    /// What stands between blanks.
    Words,
}

/// Settings of `repetition`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepetitionConfig {
    /// Words per n-gram, 1 to 16.
    pub n: usize,
    /// How the text is cut into words.
    #[serde(default)]
    pub tokens: Tokens,
}

/// Settings of `balance`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BalanceConfig {
    /// The markers, at most 32 pairs.
    pub pairs: Vec<MarkerPair>,
    /// Every pair must occur at least once.
    #[serde(default)]
    pub required: bool,
}

impl TextConfig {
    /// A config of this metric with nothing else set.
    pub fn new(metric: Metric) -> Self {
        Self { metric, normalise: None, pass_at: 1.0, max_chars: None }
    }
}
