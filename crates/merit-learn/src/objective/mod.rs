//! What is minimised: the loss of a sequence, a pair or a group, and its derivatives.
//!
//! In: a [`Unit`] of one or more sequences, with what the current policy says of their tokens and whatever the objective has
//! declared in its [`Needs`]. Out: the loss and its derivatives in log-probability, entropy and value. Pure, in double
//! precision. What is not declared cannot be read; what is declared and missing refuses the batch.
//!
//! To add an objective: a file here with a settings struct that implements [`Component`](merit_core::registry::Component) and
//! [`Objective`], and its name in the list below.

pub(crate) mod entropy;
pub(crate) mod kl;
mod needs;
mod sequence_loss;
mod surrogate;
mod unit;
pub(crate) mod value;

pub use needs::{Average, Needs, Scope, Undeclared};
pub use sequence_loss::{LossParts, SequenceLoss, TokenLoss};
pub use unit::{Member, Recorded, Unit};

pub(crate) use sequence_loss::Fault;

use merit_core::registry::Kind;

/// A loss, as a recipe names it.
pub trait Objective: Send + Sync {
    /// What it reads beside the log-probabilities of the current policy. The batch check and the driver go by it.
    fn needs(&self) -> Needs;

    /// Which samples have a loss together.
    fn scope(&self) -> Scope {
        Scope::Sequence
    }

    /// What the loss of a batch is the mean of.
    fn average(&self) -> Average {
        Average::Tokens
    }

    /// The units of a batch: positions in `batch`, each in at most one unit. A sample in no unit is left out. Units are never
    /// split over minibatches.
    fn units(&self, batch: &[Recorded<'_>]) -> Result<Vec<Vec<usize>>, Undeclared> {
        self.scope().units(batch)
    }

    /// Writes the loss of one unit and its derivatives into `out`, which has one entry per member.
    fn loss(&self, unit: &Unit<'_>, out: &mut [SequenceLoss<'_>]) -> Result<(), Undeclared>;
}

impl Kind for dyn Objective {
    const KIND: &'static str = "objective";
}

merit_core::registry! {
    pub static OBJECTIVES: dyn Objective = [
        policy_gradient::PolicyGradient,
        sft::Sft,
        gspo::Gspo,
        mixed_policy::MixedPolicy,
        dpo::Dpo,
        kto::Kto,
    ];
}
