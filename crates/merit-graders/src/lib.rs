//! Was it right, by a verifier? Reward terms that need maths, JSON, SQL, code, text and other verifiers.
//!
//! In: the record and merit-reward's seam of a term. Out: the list [`TERMS`], one file each. The algebra itself, its combinators
//! and the terms that need nothing but the record are in merit-reward, which compiles without any verifier.
//!
//! ```
//! use merit_core::registry::Components;
//! use merit_reward::{RewardConfig, Scorer};
//! let components = merit_graders::register(merit_reward::register(Components::default()));
//! let config = components.reading(|| RewardConfig::from_toml("type = 'maths'\nreading = 'answer'"))?;
//! assert_eq!(Scorer::compile(&config)?.term_names(), ["maths"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod counted_calls;
mod sources;

pub use sources::Sources;

use merit_core::registry::Components;
use merit_core::settings::ReadError;
use merit_reward::RewardConfig;

/// Most databases, schemas or lists of tools that one term keeps.
const KEPT: usize = 32;

merit_core::registry! {
    /// Every term of this crate.
    pub static TERMS: dyn merit_reward::Term = [
        maths::Maths,
        json::Json,
        sql::Sql,
        code::Code,
        state::State,
        text::Text,
        citations::Citations,
        spans::Spans,
        tool_calls::ToolCalls,
        trace::Trace,
        reference_actions::ReferenceActions,
        similarity::Similarity,
        entailment::Entailment,
        repetition::Repetition,
    ];
}

/// Adds the terms of this crate.
#[must_use]
pub fn register(components: Components) -> Components {
    components.with_all(TERMS)
}

/// Every term and combinator that comes with merit.
pub fn components() -> Components {
    register(merit_reward::register(Components::default()))
}

/// The reward in a TOML document, read with every term and combinator that comes with merit.
pub fn from_toml(text: &str) -> Result<RewardConfig, ReadError> {
    components().reading(|| RewardConfig::from_toml(text))
}
