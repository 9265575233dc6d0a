//! A reward as data: the tagged enum that a reward file or a recipe's `[reward]` table is read into, and the registry of its
//! parts. One line here is all that a new part needs besides its own file.

use crate::combinators::*;
use crate::compile::Combinator;
use crate::term::TermConfig;
use crate::terms::*;
use merit_core::About;
use serde::{Deserialize, Serialize};

/// What a registered part of the reward algebra says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Component {
    /// Name (its `type`), one line of help, paper.
    pub about: About,
    /// A whole reward in TOML that uses it.
    pub example: &'static str,
}

/// The two kinds of part.
pub(crate) enum Part<'a> {
    Term(&'a dyn TermConfig),
    Combinator(&'a dyn Combinator),
}

macro_rules! parts {
    (
        terms { $( $(#[$term_doc:meta])* $term:ident($term_config:ty) = $term_file:ident :: $term_about:ident, )* }
        awaited { $( $(#[$wait_doc:meta])* $wait:ident($wait_config:ty) = $wait_file:ident :: $wait_about:ident, )* }
        combinators { $( $(#[$comb_doc:meta])* $comb:ident($comb_config:ty) = $comb_file:ident :: $comb_about:ident, )* }
    ) => {
        /// An expression over terms. `type` chooses the variant; [`TERMS`] and [`COMBINATORS`] describe each.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "type", rename_all = "kebab-case")]
        #[allow(clippy::large_enum_variant)] // A run holds a handful of them.
        pub enum RewardConfig {
            $( $(#[$term_doc])* $term($term_config), )*
            $( $(#[$wait_doc])* $wait($wait_config), )*
            $( $(#[$comb_doc])* $comb($comb_config), )*
        }

        impl RewardConfig {
            pub(crate) fn part(&self) -> Part<'_> {
                match self {
                    $( Self::$term(config) => Part::Term(config), )*
                    $( Self::$wait(config) => Part::Term(config), )*
                    $( Self::$comb(config) => Part::Combinator(config), )*
                }
            }

            /// What the registry says of it.
            pub fn component(&self) -> &'static Component {
                match self {
                    $( Self::$term(_) => &$term_file::$term_about, )*
                    $( Self::$wait(_) => &$wait_file::$wait_about, )*
                    $( Self::$comb(_) => &$comb_file::$comb_about, )*
                }
            }
        }

        /// Every term.
        pub const TERMS: &[Component] = &[$( $term_file::$term_about, )*];

        /// Terms that wait for something this build lacks. A reward that uses one is refused with the reason.
        pub const AWAITED_TERMS: &[Component] = &[$( $wait_file::$wait_about, )*];

        /// Every combinator.
        pub const COMBINATORS: &[Component] = &[$( $comb_file::$comb_about, )*];
    };
}

parts! {
    terms {
        /// Compares the final answer with the task's.
        ExactAnswer(ExactAnswerConfig) = exact_answer::EXACT_ANSWER,
        /// Counts the turns that the world understands.
        Format(FormatConfig) = format::FORMAT,
        /// Counts the tool calls that succeed.
        ToolSuccess(ToolSuccessConfig) = tool_success::TOOL_SUCCESS,
        /// Takes away for tokens, turns and calls.
        Cost(CostConfig) = cost::COST,
        /// Takes over what whoever recorded the episode said.
        Reported(ReportedConfig) = reported::REPORTED,
        /// Counts the members of the group that agree.
        Majority(MajorityConfig) = majority::MAJORITY,
        /// Counts the episodes that read differently.
        Distinct(DistinctConfig) = distinct::DISTINCT,
        /// Compares mathematics.
        Maths(MathsConfig) = maths::MATHS,
        /// Judges structured output in layers.
        Json(JsonConfig) = json::JSON,
        /// Runs a query and compares what comes back.
        Sql(SqlConfig) = sql::SQL,
        /// Runs a program against unit tests in a sandbox.
        Code(CodeConfig) = code::CODE,
        /// Compares the world's final state with the goal.
        State(StateConfig) = state::STATE,
        /// Measures a text.
        Text(TextConfig) = text::TEXT,
        /// Counts the claims that stand on the sources they cite.
        Citations(CitationsConfig) = citations::CITATIONS,
        /// Compares marked characters.
        Spans(SpansConfig) = spans::SPANS,
        /// Counts the tool calls that are well formed.
        ToolCalls(ToolCallsConfig) = tool_calls::TOOL_CALLS,
        /// Holds the sequence of calls against rules.
        Trace(TraceConfig) = trace::TRACE,
        /// Counts the expected calls that were carried out.
        ReferenceActions(ReferenceActionsConfig) = reference_actions::REFERENCE_ACTIONS,
        /// Counts the required outputs that were said.
        Outputs(OutputsConfig) = outputs::OUTPUTS,
        /// Compares by an embedder.
        Similarity(SimilarityConfig) = similarity::SIMILARITY,
        /// Judges a note by an entailer.
        Entailment(EntailmentConfig) = entailment::ENTAILMENT,
        /// Measures how long it is.
        Length(LengthConfig) = length::LENGTH,
        /// Measures how much it repeats itself.
        Repetition(RepetitionConfig) = repetition::REPETITION,
        /// Tells whether it came to its end.
        Ended(EndedConfig) = ended::ENDED,
        /// Tells whether the required tags are there.
        TagFormat(TagFormatConfig) = tag_format::TAG_FORMAT,
    }
    awaited {}
    combinators {
        /// Adds its parts.
        Sum(SumConfig) = sum::SUM,
        /// Multiplies its parts.
        Product(ProductConfig) = product::PRODUCT,
        /// Pays one part only where another is high enough.
        Gate(GateConfig) = gate::GATE,
        /// Replaces a part by a fixed value where another is out of bounds.
        Veto(VetoConfig) = veto::VETO,
        /// Keeps a part within bounds.
        Clip(ClipConfig) = clip::CLIP,
        /// Multiplies a part by a number that changes over the steps.
        Schedule(ScheduleConfig) = schedule::SCHEDULE,
        /// Says which term tells that the task was solved; outermost only.
        SolvedBy(SolvedByConfig) = solved_by::SOLVED_BY,
        /// Evaluates a part at every turn.
        PerTurn(PerTurnConfig) = per_turn::PER_TURN,
        /// Adds the parts, each normalised over the group.
        NormalisedSum(NormalisedSumConfig) = normalised_sum::NORMALISED_SUM,
        /// Weighs its parts by how fast they are being learned.
        DynamicWeights(DynamicWeightsConfig) = dynamic_weights::DYNAMIC_WEIGHTS,
        /// Counts ordered tiers while those before pass.
        Lexicographic(LexicographicConfig) = lexicographic::LEXICOGRAPHIC,
        /// A curriculum of stages, by step or by mastery.
        Staged(StagedConfig) = staged::STAGED,
        /// Pays the part that is named for the task's kind.
        Router(RouterConfig) = router::ROUTER,
        /// Blends two parts by shares that move over the steps.
        Blend(BlendConfig) = blend::BLEND,
        /// What a part is worth beyond a baseline.
        Gain(GainConfig) = gain::GAIN,
        /// A utility and what it cost.
        Pareto(ParetoConfig) = pareto::PARETO,
        /// Ranks the group by dominance over several objectives.
        ParetoRank(ParetoRankConfig) = pareto_rank::PARETO_RANK,
        /// Pays for all parts together, with their sign.
        GeometricMean(GeometricMeanConfig) = geometric_mean::GEOMETRIC_MEAN,
        /// Shares a reward within a team and sets it against the others.
        Team(TeamConfig) = team::TEAM,
        /// Takes several judges of the same thing together.
        Ensemble(EnsembleConfig) = ensemble::ENSEMBLE,
        /// Pays progress by turn without changing what is best.
        Shaping(ShapingConfig) = shaping::SHAPING,
        /// Counts the items of a list that pass.
        Checklist(ChecklistConfig) = checklist::CHECKLIST,
        /// Takes graded axes together after hard vetoes.
        Rubric(RubricConfig) = rubric::RUBRIC,
    }
}

impl RewardConfig {
    /// The reward in a TOML document. In this one place, because every program that reads the enum by itself compiles all of
    /// its parts anew.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Its name, where it is a term.
    pub fn term_name(&self) -> Option<String> {
        match self.part() {
            Part::Term(term) => Some(term.settings().name),
            Part::Combinator(_) => None,
        }
    }

    /// The parts below, in the order in which their terms are listed.
    pub fn children(&self) -> Vec<&Self> {
        match self.part() {
            Part::Term(_) => Vec::new(),
            Part::Combinator(combinator) => combinator.children(),
        }
    }

    /// The names of all terms inside, in the order of the file.
    pub fn term_names(&self) -> Vec<String> {
        match self.part() {
            Part::Term(term) => vec![term.settings().name],
            Part::Combinator(combinator) => {
                combinator.children().into_iter().flat_map(Self::term_names).collect()
            }
        }
    }
}
