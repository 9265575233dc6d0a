//! Why a world or an environment cannot go on.

use merit_core::registry::Refusal;

/// Why a world or an environment cannot go on. Always an infrastructure failure: a wrong action is not an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum EnvError {
    /// A task of another world, or damaged.
    #[error("world `{world}` cannot open task {task}: {why}")]
    Task { world: &'static str, task: String, why: String },
    /// A snapshot of another world or version.
    #[error("world `{world}` cannot continue from this snapshot: {why}")]
    Snapshot { world: &'static str, why: String },
    #[error("world `{world}` broke: {why}")]
    Broken { world: &'static str, why: String },
    /// A setting that cannot work.
    #[error("world `{world}`: {why}")]
    Setting { world: &'static str, why: String },
    /// An expert that is asked for a manner and knows none by name.
    #[error("the expert has no manner `{manner}`; it plays only right or wrong")]
    Manner { manner: String },
}

impl EnvError {
    /// Settings of `world` that were refused.
    pub fn refused(world: &'static str, refusal: Refusal) -> Self {
        Self::Setting { world, why: refusal.why }
    }

    /// Nothing where `p_correct` of an expert of `world` is a probability.
    pub fn unless_probability(world: &'static str, p_correct: f64) -> Result<(), Self> {
        if (0.0..=1.0).contains(&p_correct) {
            return Ok(());
        }
        Err(Self::Setting { world, why: format!("`p_correct` is {p_correct}; give a probability, 0 to 1") })
    }
}
