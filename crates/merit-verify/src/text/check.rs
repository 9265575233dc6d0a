//! Which text configs cannot work, and why.

use super::{MAX_TEXT_BYTES, Metric, TextConfig};

/// A config that cannot work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TextConfigError {
    /// A number outside its range.
    #[error("`{key}` is {got}, but it must be {want}")]
    Range { key: &'static str, got: String, want: &'static str },
    /// A setting that would do nothing.
    #[error("`{key}` does nothing with `{with}`; leave it out")]
    Idle { key: &'static str, with: &'static str },
    /// Dropping articles works on words.
    #[error("`drop_articles` works on words and needs `collapse_white_space = true`")]
    ArticlesNeedWords,
    /// A marker that cannot be told from another.
    #[error("marker `{marker}` {why}")]
    Marker {
        marker: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl TextConfig {
    pub(crate) fn check(&self) -> Result<(), TextConfigError> {
        within_one("pass_at", self.pass_at)?;
        if self.max_chars.is_some_and(|chars| chars == 0 || chars > MAX_TEXT_BYTES) {
            let got = format!("{:?}", self.max_chars.unwrap_or_default());
            return Err(TextConfigError::Range { key: "max_chars", got, want: "from 1 to 4194304" });
        }
        if let Some(normalise) = self.normalise {
            if let Some(with) = self.metric.looks_at_text_as_it_is() {
                return Err(TextConfigError::Idle { key: "normalise", with });
            }
            if normalise.drop_articles && !normalise.collapse_white_space {
                return Err(TextConfigError::ArticlesNeedWords);
            }
        }
        self.metric.check()
    }
}

pub(crate) fn within_one(key: &'static str, value: f64) -> Result<(), TextConfigError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(TextConfigError::Range { key, got: value.to_string(), want: "from 0 to 1" })
}

impl Metric {
    /// The metric's name when it does not normalise.
    fn looks_at_text_as_it_is(&self) -> Option<&'static str> {
        match self {
            Self::String(_) => Some("string"),
            Self::Length(_) => Some("length"),
            Self::Balance(_) => Some("balance"),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), TextConfigError> {
        match self {
            Self::Contains(config) => {
                within_one("min_share", config.min_share)?;
                at_least_one("max_candidates", config.max_candidates)
            }
            Self::Length(config) => {
                at_least_one("min", config.min)?;
                let want = "at least `min`";
                let got = config.max.to_string();
                if config.max < config.min {
                    return Err(TextConfigError::Range { key: "max", got, want });
                }
                Ok(())
            }
            Self::Repetition(config) if !(1..=16).contains(&config.n) => {
                Err(TextConfigError::Range { key: "n", got: config.n.to_string(), want: "from 1 to 16" })
            }
            Self::Balance(config) => super::balance::check(&config.pairs),
            _ => Ok(()),
        }
    }
}

fn at_least_one(key: &'static str, value: usize) -> Result<(), TextConfigError> {
    if value > 0 {
        return Ok(());
    }
    Err(TextConfigError::Range { key, got: value.to_string(), want: "at least 1" })
}
