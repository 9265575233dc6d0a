//! Why a run cannot go on. Whatever was recorded stays recorded.

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Recipe(#[from] crate::recipe_error::RecipeError),
    #[error(transparent)]
    Store(#[from] merit_store::StoreError),
    #[error("model: {0}")]
    Model(#[from] merit_model::ModelError),
    #[error("model: {0}")]
    Format(#[from] merit_formats::FormatError),
    /// The file of a model that is not the one the run began with.
    #[error("{file} is not the file that this run began with; put that one back, or begin a new run")]
    OtherModel { file: String },
    /// A run that another cannot begin with.
    #[error("`model.start` {run}: {why}")]
    Start { run: String, why: String },
    /// A run that cannot go on beyond its budget.
    #[error("{run} cannot be extended: {why}")]
    Extend { run: String, why: String },
    /// A model behind an endpoint.
    #[error("endpoint: {0}")]
    Endpoint(#[from] merit_endpoint::EndpointError),
    #[error(transparent)]
    Env(#[from] merit_api::EnvError),
    #[error("reward: {0}")]
    Reward(#[from] merit_reward::RewardError),
    #[error("credit: {0}")]
    Credit(#[from] merit_credit::CreditError),
    #[error("learning: {0}")]
    Learn(#[from] merit_learn::LearnError),
    /// Episodes that do not make a group.
    #[error(transparent)]
    Group(#[from] merit_core::GroupError),
    /// A tree that cannot be planned.
    #[error(transparent)]
    Tree(#[from] merit_rollout::TreeError),
    /// A tree that cannot grow as the recipe says.
    #[error("[rollout] {0}")]
    Grow(String),
    /// Tasks that cannot be drawn.
    #[error("{0}")]
    Tasks(String),
    /// A recipe that asks for more than a session provides.
    #[error("{0}")]
    Session(String),
    /// An annotator that cannot be opened.
    #[error("{0}")]
    Annotator(String),
    /// A tokenizer that cuts what is one token in its world.
    #[error(
        "world `{world}` has words that are one token each, as `{word}`, and the tokenizer of the model cuts it into {tokens}; \
         only a decoder made on the spot learns them: remove `file` or `start` from `[model]`, or let the world name things by words"
    )]
    Words { world: &'static str, word: String, tokens: usize },
    /// A tokenizer that cannot be trained.
    #[error(transparent)]
    Tokenizer(#[from] merit_text::TokenizerError),
    /// A world that cannot show how it is done.
    #[error(transparent)]
    Expert(#[from] merit_rollout::NoExpert),
    /// A tokenizer that lacks a marker.
    #[error(transparent)]
    Chat(#[from] merit_rollout::MissingMarker),
    /// A model that conversations cannot be laid out for.
    #[error("{file}: {why}")]
    ChatFormat {
        file: String,
        /// What is missing or wrong.
        why: merit_rollout::ChatFormatError,
    },
    /// A demonstration that did not come to its end.
    #[error(
        "demonstration {episode} ended as `{end}`; the world's demonstrator must finish every task within {} turns and \
         `rollout.episode_seconds`",
        crate::warm::MOST_TURNS
    )]
    Demonstration { episode: String, end: String },
    /// A teacher whose episodes were lost on the way.
    #[error(
        "roles.teacher: {lost} of {asked} demonstrations were lost, the first of task {task}: {why}; what came is kept, and \
         `merit train --resume {run}` asks for the rest"
    )]
    TeacherLost { lost: usize, asked: usize, task: String, why: String, run: String },
    /// A teacher that showed nothing that could be imitated.
    #[error(
        "roles.teacher: none of {asked} demonstrations can be imitated ({counts}); `merit rollout RECIPE --role teacher --split \
         train` shows what it does, and `warm_start.keep = \"finished\"` imitates wrong answers too"
    )]
    NothingTaught {
        asked: usize,
        /// How many there are of each outcome.
        counts: String,
    },
    /// Lessons that cannot be read.
    #[error("{file} cannot be used: {why}; remove it, and the teacher is asked again")]
    Lessons { file: String, why: String },
    /// A demonstration that the policy cannot read to its end.
    #[error(
        "a demonstration has {tokens} tokens, but the context holds {context}; raise `model.context` or make the tasks smaller"
    )]
    LongDemonstration {
        /// Tokens of the longest.
        tokens: usize,
        /// Tokens of the context.
        context: usize,
    },
    #[error(transparent)]
    Memory(#[from] merit_memory::MemoryError),
    /// Data of one's own that cannot be learned from.
    #[error("{0}")]
    Data(String),
    /// A policy whose weights cannot be sampled from any more.
    #[error(
        "step {step}: the policy diverged, the logits of {broke} of {episodes} episodes are not finite; begin a new run with a lower \
         learning rate (`learn.optimiser.lr`) or a tighter `clip_norm`. {run} keeps what was recorded before"
    )]
    Diverged { step: u64, broke: usize, episodes: usize, run: String },
    /// Data that is not what the run began with.
    #[error("{file} has changed since this run began; put it back as it was, or begin a new run")]
    OtherData { file: String },
    /// A model that is asked before it has learned anything.
    #[error(
        "model `{model}` was not fitted, so that it was never measured on held-out tasks and may decide nothing: the stage that \
         should have had too little to learn from; collect more tasks before it"
    )]
    NotFitted { model: String },
    /// A judge that is asked before it was evolved.
    #[error(
        "judge `{judge}` was not evolved: the stage that should have found nothing to learn from; collect more tasks"
    )]
    NotEvolved { judge: String },
    /// A judge of the recipe that cannot be used.
    #[error("{0}")]
    Judge(String),
    /// A model that would decide what is learned, and was measured to know nothing of quality.
    #[error(
        "model `{model}` may not decide what `{stage}` learns from: {why}; fit it to more or other episodes, or let it with \
         `force = true` in `[models.{model}]` (here: `merit train --resume {run} --set models.{model}.force=true`)"
    )]
    Unproven {
        model: String,
        /// The stage that would learn from what it decides.
        stage: String,
        /// What its row says.
        why: String,
        run: String,
    },
    /// A tokenizer in which a verdict is not one token.
    #[error(
        "`{word}` is not one token of this model, so that `loss = \"token\"` has no verdict; use `regression`"
    )]
    Verdict { word: String },
    /// A checkpoint that cannot be used.
    #[error("the newest checkpoint cannot be used: {why}")]
    Checkpoint { why: String },
    #[error("report: {0}")]
    Measure(#[from] merit_measure::MeasureError),
    /// The tape that calls are recorded on or answered from.
    #[error(transparent)]
    Tape(#[from] merit_tools::TapeError),
    #[error("cannot start the threads that tools run on: {0}")]
    Tools(#[from] std::io::Error),
    /// Others were to play, and did not.
    #[error("playing elsewhere: {0}")]
    Elsewhere(String),
    #[error("interrupted; go on with `merit train --resume {run}`")]
    Interrupted { run: String },
}
