//! `memory.toml`: what a memory holds, how it is searched, and what it forgets.

use crate::MemoryError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of a memory.
///
/// ```
/// let settings: merit_memory::Settings = toml::from_str("kind = 'reflections'\nretrieval = 'hybrid'\ncapacity = 500")?;
/// assert!(settings.check().is_ok());
/// let error = toml::from_str::<merit_memory::Settings>("size = 3").unwrap_err();
/// assert!(error.message().starts_with("unknown field `size`"));
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What is kept as an item.
    pub kind: Kind,
    /// How items are found.
    pub retrieval: Retrieval,
    /// Most items; more are forgotten by `forgetting`.
    pub capacity: usize,
    /// Which items go first.
    pub forgetting: Forgetting,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            retrieval: Retrieval::default(),
            capacity: 1_000_000,
            forgetting: Forgetting::default(),
        }
    }
}

/// What can be kept as an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Something that is true.
    #[default]
    Facts,
    /// A turn of a good episode, found by what was said before it.
    Experiences,
    /// What a good and a bad episode of one task did differently.
    Reflections,
    /// What is known under a name; a later text replaces an earlier one.
    Profile,
}

/// How items are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Retrieval {
    /// Items whose key is the query, but for case, accents and punctuation; newest first.
    Exact,
    /// BM25 over the words of keys.
    #[default]
    Words,
    /// Nearest vectors of hashed words and character n-grams; approximate above 16,384 items.
    Dense,
    /// Words and vectors, fused by rank.
    Hybrid,
    /// A random walk from the best items by words, along what items are about.
    Graph,
}

/// Which items go first when there are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forgetting {
    /// Those that were made first.
    #[default]
    Oldest,
    /// Those that were shown least often; of equals the oldest.
    LeastUsed,
    /// Those with the least share of wins, (wins + 1) / (wins + losses + 2); of equals the least valued, then the oldest.
    LeastWorth,
}

impl Settings {
    /// Refuses what cannot work, in words.
    pub fn check(&self) -> Result<(), MemoryError> {
        match self.capacity {
            0 => Err(MemoryError::Setting("`capacity` is 0; a memory holds at least 1 item".to_owned())),
            many if many > 100_000_000 => {
                Err(MemoryError::Setting(format!("`capacity` is {many}; at most 100000000 items are held")))
            }
            _ => Ok(()),
        }
    }
}

impl Retrieval {
    /// The name used in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Words => "words",
            Self::Dense => "dense",
            Self::Hybrid => "hybrid",
            Self::Graph => "graph",
        }
    }

    /// All of them, in order of declaration.
    pub const ALL: [Self; 5] = [Self::Exact, Self::Words, Self::Dense, Self::Hybrid, Self::Graph];
}
