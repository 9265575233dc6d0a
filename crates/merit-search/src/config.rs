//! How an index is made: what counts as a word, how fields weigh, and whether vectors stand beside the words.
//!
//! BM25's `k1 = 1.2` and `b = 0.75` are fixed in the word index and therefore no settings.

use crate::SearchError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of an index.
///
/// ```
/// let config: merit_search::IndexConfig = toml::from_str(
///     r#"
///     title_boost = 2.0
///     stemming = "english"
///     stop_words = "english"
///     snippet_chars = 200
///     mode = "hybrid"
///     [dense]
///     role = "hashed-ngrams"
///     dimensions = 512
///     weight = 0.5
///     "#,
/// )?;
/// assert!(config.check().is_ok());
/// let error = toml::from_str::<merit_search::IndexConfig>("k1 = 0.9").unwrap_err();
/// assert!(error.message().starts_with("unknown field `k1`"));
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IndexConfig {
    /// The BM25 score of the title counts this much beside that of the text, which counts 1; at 0 titles are not searched by
    /// words.
    pub title_boost: f32,
    /// Whether inflected words are one word.
    pub stemming: Stemming,
    /// Which words are too common to be searched for.
    pub stop_words: StopWords,
    /// Longest snippet, in characters.
    pub snippet_chars: usize,
    /// How a query is answered that names no mode. Absent: `hybrid` with `dense`, `words` without.
    pub mode: Option<Mode>,
    /// Vectors beside the words. Absent: words only.
    pub dense: Option<DenseConfig>,
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self {
            title_boost: 1.0,
            stemming: Stemming::English,
            stop_words: StopWords::English,
            snippet_chars: 300,
            mode: None,
            dense: None,
        }
    }
}

/// Whether inflected words are one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stemming {
    /// The Snowball stemmer for English.
    English,
    /// Words as they stand, for other languages and for code.
    None,
}

/// Which words are too common to be searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StopWords {
    /// Lucene's 33 English words.
    English,
    /// None: every word counts.
    None,
}

/// How a query is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// BM25 over words; the score is the sum of both fields' BM25.
    Words,
    /// Exact nearest vectors; the score is the cosine, and only documents above 0 are hits.
    Dense,
    /// Both lists, fused by rank; the score is the fused one.
    Hybrid,
}

impl Mode {
    /// The name used in configs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Dense => "dense",
            Self::Hybrid => "hybrid",
        }
    }
}

/// Vectors beside the words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DenseConfig {
    /// The embedder's name: one of [`merit_core::embedder::EMBEDDERS`], or that of the embedder handed in.
    pub role: String,
    /// Length of the vectors; four bytes per document and dimension are held in memory.
    pub dimensions: usize,
    /// Weight of the dense list in hybrid mode, where the list of words has weight 1.
    #[serde(default = "one")]
    pub weight: f32,
}

fn one() -> f32 {
    1.0
}

impl IndexConfig {
    /// The mode of a query that names none.
    pub fn default_mode(&self) -> Mode {
        let derived = if self.dense.is_some() { Mode::Hybrid } else { Mode::Words };
        self.mode.unwrap_or(derived)
    }

    /// Refuses settings that cannot work.
    pub fn check(&self) -> Result<(), SearchError> {
        let refuse =
            |key, got: String, want: &str| Err(SearchError::Config { key, got, want: want.to_owned() });
        if !(0.0..=100.0).contains(&self.title_boost) {
            return refuse("title_boost", self.title_boost.to_string(), "from 0 to 100");
        }
        if !(20..=10_000).contains(&self.snippet_chars) {
            return refuse("snippet_chars", self.snippet_chars.to_string(), "from 20 to 10000");
        }
        let Some(dense) = &self.dense else {
            let mode = self.default_mode();
            let want = "`words` in an index without vectors; add a table `dense` or remove `mode`";
            return if mode == Mode::Words {
                Ok(())
            } else {
                refuse("mode", format!("`{}`", mode.name()), want)
            };
        };
        if !(1..=16_384).contains(&dense.dimensions) {
            return refuse("dense.dimensions", dense.dimensions.to_string(), "from 1 to 16384");
        }
        if !(dense.weight > 0.0 && dense.weight <= 100.0) {
            return refuse("dense.weight", dense.weight.to_string(), "above 0 and at most 100");
        }
        Ok(())
    }
}
