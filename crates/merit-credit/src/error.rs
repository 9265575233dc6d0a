//! Why credit cannot be assigned.

use merit_core::EpisodeId;

/// Something that stops a credit rule.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CreditError {
    /// A rule that needs values met an episode without them.
    #[error(
        "credit rule `{rule}` needs a value for every token, but episode {episode} has none in turn {turn}; give the policy a value head, or use a rule without values, such as `grpo`"
    )]
    MissingValues { rule: &'static str, episode: EpisodeId, turn: u32 },
    /// A truncated episode without the value of the state where it was cut.
    #[error(
        "episode {episode} was truncated but carries no bootstrap value; credit rule `{rule}` will not take the cut for an end"
    )]
    MissingBootstrap { rule: &'static str, episode: EpisodeId },
    /// A rule that needs continuations met an episode without them.
    #[error(
        "credit rule `{rule}` needs continuations from every turn, but episode {episode} has none from turn {turn}"
    )]
    MissingProbes { rule: &'static str, episode: EpisodeId, turn: usize },
    /// A rule that reads an annotation met an episode of which nobody was asked.
    #[error(
        "credit rule `{rule}` reads the annotation `{annotation}`, but nobody was asked about episode {episode}; hand in what was said with `CreditBatch::with_annotations`"
    )]
    MissingAnnotation { rule: &'static str, episode: EpisodeId, annotation: String },
    /// An annotation of turns that does not match the turns.
    #[error(
        "the annotation `{annotation}` speaks of {got} turns of episode {episode}, which has {want}; there must be one value each, or `None` where nothing is said"
    )]
    AnnotatedTurns {
        episode: EpisodeId,
        annotation: String,
        got: usize,
        /// How many turns there are.
        want: usize,
    },
    /// A rule that reads an info met a batch in which no turn has it.
    #[error(
        "credit rule `{rule}` pools turns by the info `{key}`, and the world tells others but not that; give `credit.key` one that it tells (docs/worlds.md)"
    )]
    MissingInfo { rule: &'static str, key: String },
    /// A rule that reads terms met an episode whose score has none of that name, or one that says nothing of turns.
    #[error(
        "credit rule `{rule}` needs the item `{item}` at every turn, but the reward of episode {episode} has no term of that name that is told by turn; name one in `credit.items`, and give it `per_turn = true`"
    )]
    MissingItem { rule: &'static str, episode: EpisodeId, item: String },
    /// Turn rewards that do not match the turns.
    #[error("episode {episode} has {got} turn rewards for {want} turns; there must be one each, or none")]
    TurnRewards {
        episode: EpisodeId,
        got: usize,
        /// How many there should be.
        want: usize,
    },
    /// A number that is infinite or not a number.
    #[error("episode {episode}: its {what} is {value}; credit needs finite numbers")]
    NotFinite { episode: EpisodeId, what: &'static str, value: f64 },
    /// An episode whose record cannot be trained on.
    #[error(transparent)]
    Sample(#[from] merit_core::SampleError),
    /// Arrays that do not fit together.
    #[error("`{what}` has {got} entries where {want} are needed")]
    Shape { what: &'static str, got: usize, want: usize },
    /// Row bounds that do not ascend from 0.
    #[error("row bounds must ascend from 0; entry {at} is {value}, after {before}")]
    Bounds {
        /// Position in the bounds.
        at: usize,
        value: usize,
        before: usize,
    },
}
