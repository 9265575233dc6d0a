//! The combinators, one file each.

mod checklist_order;
mod rubric_axis;
mod slope;
mod task_fact;

pub use rubric_axis::{AxisConfig, RubricGateConfig};
pub use slope::Slope;
pub use task_fact::{PayloadPointer, TaskFact};

merit_core::registry! {
    pub static COMBINATORS: dyn crate::compile::Combinator = [
        sum::Sum,
        product::Product,
        gate::Gate,
        veto::Veto,
        abstain::Abstain,
        clip::Clip,
        schedule::Schedule,
        solved_by::SolvedBy,
        per_turn::PerTurn,
        normalised_sum::NormalisedSum,
        dynamic_weights::DynamicWeights,
        lexicographic::Lexicographic,
        staged::Staged,
        router::Router,
        blend::Blend,
        gain::Gain,
        pareto::Pareto,
        pareto_rank::ParetoRank,
        geometric_mean::GeometricMean,
        team::Team,
        ensemble::Ensemble,
        shaping::Shaping,
        checklist::Checklist,
        rubric::Rubric,
        shuffled::Shuffled,
    ];
}
