//! What counts as a citation, and what it must hold up to.

use crate::text::check::within_one;
use crate::text::{MAX_TEXT_BYTES, TextConfigError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A citation check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CitationConfig {
    /// What a citation looks like.
    pub markers: CitationMarkers,
    /// A sentence stands when its best cited source supports it at least this far.
    pub support_at: f64,
    /// A sentence that cites more sources than this does not stand: citing everything names nothing.
    pub max_cites: usize,
    /// A sentence with fewer words of content is no claim and needs no source.
    pub min_claim_words: usize,
    /// A quoted span of at least this many words must stand word for word in a source that its sentence cites.
    pub min_quote_words: usize,
    /// The share of claims that must stand.
    pub pass_at: f64,
    /// A response of more characters is refused.
    pub max_chars: usize,
}

impl Default for CitationConfig {
    fn default() -> Self {
        Self {
            markers: CitationMarkers::default(),
            support_at: 0.6,
            max_cites: 3,
            min_claim_words: 2,
            min_quote_words: 3,
            pass_at: 1.0,
            max_chars: 20_000,
        }
    }
}

/// What a citation looks like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CitationMarkers {
    /// The text that opens a citation.
    pub open: String,
    /// The text that closes a citation.
    pub close: String,
    /// What stands between.
    pub labels: Labels,
}

impl Default for CitationMarkers {
    fn default() -> Self {
        Self { open: "[".to_owned(), close: "]".to_owned(), labels: Labels::Numbers }
    }
}

/// What stands in a citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Labels {
    /// Numbers, lists and ranges of them (`1`, `1, 3`, `2-4`); anything else between the marks is ordinary text.
    #[default]
    Numbers,
    /// Whatever stands between the marks, split at commas.
    Any,
}

impl CitationConfig {
    pub(super) fn check(&self) -> Result<(), TextConfigError> {
        within_one("support_at", self.support_at)?;
        within_one("pass_at", self.pass_at)?;
        let range = |key, got: usize, want| Err(TextConfigError::Range { key, got: got.to_string(), want });
        if self.max_cites == 0 {
            return range("max_cites", 0, "at least 1");
        }
        if self.min_claim_words == 0 {
            return range("min_claim_words", 0, "at least 1");
        }
        if self.min_quote_words == 0 {
            return range("min_quote_words", 0, "at least 1");
        }
        if !(1..=MAX_TEXT_BYTES).contains(&self.max_chars) {
            return range("max_chars", self.max_chars, "from 1 to 4194304");
        }
        let CitationMarkers { open, close, .. } = &self.markers;
        for (marker, bad) in [(open, open.trim().is_empty()), (close, close.trim().is_empty())] {
            if bad {
                return Err(TextConfigError::Marker { marker: marker.clone(), why: "is blank" });
            }
        }
        if open == close {
            return Err(TextConfigError::Marker { marker: open.clone(), why: "both opens and closes" });
        }
        Ok(())
    }
}
