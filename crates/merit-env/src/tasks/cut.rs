//! Long answers of tools cut to what a policy should read, with a mark where something is missing.

use merit_core::registry::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a long text loses its characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutAt {
    /// At its start: the end is kept.
    Left,
    /// At its end: the start is kept.
    Right,
    /// In its middle: both ends are kept.
    #[default]
    Middle,
}

/// How the answers of tools are cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CutConfig {
    /// Most characters of one answer, the mark among them.
    pub chars: usize,
    /// Where a long answer is cut.
    pub at: CutAt,
    /// What stands where something is missing.
    pub marker: String,
}

impl Default for CutConfig {
    fn default() -> Self {
        Self { chars: 4000, at: CutAt::Middle, marker: "\n[...]\n".to_owned() }
    }
}

impl CutConfig {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let marker = self.marker.chars().count();
        if self.chars <= marker {
            return Err(Refusal::new(format!(
                "`observations.chars` is {}, which leaves no room beside the marker of {marker} characters",
                self.chars
            )));
        }
        Ok(())
    }

    /// The text, or as much of it as is shown.
    pub(super) fn cut(&self, text: &str) -> String {
        // Bytes are never fewer than characters, so short texts need no counting.
        if text.len() <= self.chars {
            return text.to_owned();
        }
        let count = text.chars().count();
        if count <= self.chars {
            return text.to_owned();
        }
        let kept = self.chars.saturating_sub(self.marker.chars().count());
        let (head, tail) = match self.at {
            CutAt::Left => (0, kept),
            CutAt::Right => (kept, 0),
            CutAt::Middle => (kept - kept / 2, kept / 2),
        };
        let start: String = text.chars().take(head).collect();
        let end: String = text.chars().skip(count - tail).collect();
        format!("{start}{}{end}", self.marker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(at: CutAt, text: &str, seen: &str) {
        let config = CutConfig { chars: 7, at, marker: "..".to_owned() };
        assert_eq!(config.cut(text), seen);
    }

    #[test]
    fn a_long_text_is_cut_where_it_is_told() {
        check(CutAt::Left, "abcdefgh", "..defgh");
        check(CutAt::Right, "abcdefgh", "abcde..");
        check(CutAt::Middle, "abcdefgh", "abc..gh");
        check(CutAt::Middle, "abcdefg", "abcdefg");
        check(CutAt::Middle, "ééééééé", "ééééééé");
        check(CutAt::Right, "éééééééé", "ééééé..");
    }
}
