//! What a record knows of a segment: an episode that somebody else recorded often has text and nothing else.

use crate::{Provenance, Segment, TranscriptError};
use serde::{Deserialize, Serialize};

/// How much of a segment is known, least first. What is not known is absent: never invented, never a zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// The text only: no tokens, no log-probabilities.
    Text,
    /// The tokens, but not how likely they were.
    Tokens,
    /// Tokens and, where the policy chose them, log-probabilities.
    #[default]
    Full,
}

impl Known {
    /// Whether nothing is missing.
    pub fn is_full(&self) -> bool {
        *self == Self::Full
    }

    /// What is missing, in words; absent when nothing is.
    pub fn missing(self) -> Option<&'static str> {
        match self {
            Self::Text => Some("tokens and log-probabilities"),
            Self::Tokens => Some("log-probabilities"),
            Self::Full => None,
        }
    }
}

/// Rule 4: only what was recorded or made elsewhere may lack something, and what is said to be absent is.
pub(crate) fn check_absence(segment: &Segment) -> Result<(), TranscriptError> {
    let Some(missing) = segment.known.missing() else { return Ok(()) };
    let turn = segment.turn;
    if !matches!(segment.provenance, Provenance::Imported | Provenance::Synthetic) {
        let provenance = segment.provenance;
        return Err(TranscriptError::Absent { turn, missing, provenance });
    }
    let has_tokens = segment.known == Known::Text && !segment.tokens.is_empty();
    if has_tokens || !segment.logprobs.is_empty() || !segment.values.is_empty() {
        return Err(TranscriptError::NotAbsent { turn, missing });
    }
    Ok(())
}
