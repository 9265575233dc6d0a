//! `merit import`, `merit score`, `merit reward`, `merit verify` and `merit attack`.

use super::completing;
use super::values::{MOST, discount, key_value};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file: OpenAI-style messages, a tau-bench result file, or JSON lines.
    pub(crate) file: PathBuf,
    /// Its format (see `merit list formats`).
    #[arg(long, default_value = merit_import::AUTO)]
    pub(crate) format: String,
    /// Where the episodes go [default: imports/FILE].
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Name of the tasks' world, after `imported/` [default: the format's].
    #[arg(long)]
    pub(crate) world: Option<String>,
    /// A tool's answer that begins so is an error; may be repeated [default: the format's convention].
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) error_prefix: Vec<String>,
    /// The reported reward from which on a task counts as solved [default: the format's].
    #[arg(long, value_name = "REWARD", allow_negative_numbers = true)]
    pub(crate) solved_at: Option<f64>,
    /// Leave out entries that cannot be read instead of failing; each is named.
    #[arg(long)]
    pub(crate) allow_skipped: bool,
    /// One JSON object instead of words.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Score {
    /// A reward file, a shipped reward or recipe by name (see `merit list rewards`), or a recipe file.
    #[arg(add = completing::rewards())]
    pub(crate) reward: String,
    /// A run's folder, an import's folder, or a file that can be imported.
    #[arg(add = completing::runs())]
    pub(crate) episodes: PathBuf,
    /// Print the tree of every episode with all values and why, or of one: `--explain import/0/3/1`.
    #[arg(long, value_name = "EPISODE", num_args = 0..=1)]
    pub(crate) explain: Option<Option<String>>,
    /// Seed of the error rates [default: the run's].
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// The learner's discount, for potential-based shaping [default: the run's, or 1].
    #[arg(long, value_parser = discount, allow_negative_numbers = true)]
    pub(crate) discount: Option<f64>,
    /// One JSON object per episode, with its whole score; with `--explain`, and why.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Reward {
    /// Find dead gates, terms that can never matter, mismatched scales, and pay for doing nothing. Exit code 1 when the
    /// reward teaches the wrong thing, 2 when it cannot be used.
    Check {
        /// A reward file, or the name of a shipped reward or recipe.
        #[arg(add = completing::rewards())]
        reward: String,
        /// Also hold it against these episodes: a run's or import's folder, or a file.
        #[arg(long)]
        episodes: Option<PathBuf>,
        /// One JSON object per finding.
        #[arg(long)]
        json: bool,
    },
    /// Print a reward with every default written out.
    Show {
        /// A reward file, or the name of a shipped reward or recipe.
        #[arg(add = completing::rewards())]
        reward: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verify {
    /// Is it the same mathematics?
    ///
    /// A record: `{"gold": "1/2", "response": "It is \\boxed{0.5}."}`.
    Maths(VerifyArguments),
    /// Is it JSON, of the right shape, with the right content?
    ///
    /// A record: `{"output": "{\"n\": 4}", "schema": {"type": "object"}, "reference": {"n": 4}}`. Schema and reference may be
    /// left out; a reference of `null` expects `null`.
    Json(VerifyArguments),
    /// Does the query find what it should?
    ///
    /// A record: `{"database": "shop.db", "response": "SELECT …", "expected": {"query": "SELECT …"}}`. The database may also
    /// be made by `"script": "CREATE TABLE …"`, and rows be expected as `{"rows": [[1, "a"]], "ordered": true}`.
    Sql(VerifyArguments),
    /// Does the program pass its tests?
    ///
    /// A record: `{"response": "def f(x): …", "tests": ["assert f(2) == 4"], "hidden": […]}`. A test is Python statements, a
    /// call `{"type": "call", "function": "f", "args": [2], "result": 4}`, or a script's input and output `{"type": "stdin",
    /// "stdin": "2", "stdout": "4"}`. The program runs in a sandbox, and its tests in another interpreter. `passed` wants all
    /// tests; the score is their share.
    Code(VerifyArguments),
    /// Does the text match a reference, stand on its sources, or mark the right spans?
    ///
    /// A record: `{"response": "Paris", "reference": "paris"}`, or with several `references`; the metric is `exact` unless the
    /// settings say otherwise. For citations: `{"response": "… [1].", "sources": [{"id": "1", "text": "…"}]}`. For spans:
    /// `{"spans": [{"start": 0, "end": 4}], "reference_spans": […]}`.
    Text(VerifyArguments),
    /// Did the world end where it should, with nothing else touched?
    ///
    /// A record: `{"state": {…}, "goal": {…}, "initial": {…}}`. With the initial state, unwanted changes are told from
    /// what was always so; it may be left out.
    State(VerifyArguments),
    /// Are the tool calls well formed, and their sequence right?
    ///
    /// A record: `{"tools": […], "calls": [{"tool": "find", "arguments": "{}"}], "rules": [{"at_most": {"n": 3}}]}`. Tools,
    /// rules or both; instead of calls, a `trace` of `{"type": "call", …}` and `{"type": "observation", "text": "…"}`.
    Calls(VerifyArguments),
}

#[derive(Debug, Args)]
#[command(after_help = VERDICTS)]
pub(crate) struct VerifyArguments {
    /// JSON lines [default: standard input].
    pub(crate) file: Option<PathBuf>,
    /// What counts as right, a TOML file; a record's own `settings` are laid over it.
    #[arg(long, alias = "policy", value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Change one setting, e.g. `--set limits.steps=100000`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Words for people instead of JSON.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Threads [default: all cores]; verdicts and their order do not depend on it.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) threads: Option<u16>,
}

const VERDICTS: &str = "\
Every record may have an `id`, which is handed on, and `settings` of its own.

A verdict is {\"line\": 1, \"passed\": true, \"score\": 1.0, \"verdict\": {…}}. Where nobody can tell, `passed` and `score` are \
null, which is not a wrong answer.

A line that is no record becomes {\"line\": 1, \"error\": \"…\"}; the others are judged all the same, and the exit code is 2.";

#[derive(Debug, Args)]
#[command(after_help = SCORERS)]
pub(crate) struct Attack {
    /// Name of a shipped reward or recipe, or path of a TOML file that holds one, or a judge.
    #[arg(required_unless_present_any = ["command", "program"], conflicts_with_all = ["command", "program"], add = completing::rewards())]
    pub(crate) target: Option<String>,
    /// Tasks for a reward: JSON lines with `prompt` and `answer`, or the folder of a run or an import [default: those that
    /// come with the reward].
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "program"])]
    pub(crate) tasks: Option<PathBuf>,
    /// The least grade that passes: A, B, C, D or F.
    #[arg(long, value_name = "GRADE", default_value_t = merit_attack::Grade::PASSING)]
    pub(crate) at_least: merit_attack::Grade,
    /// Seed of tasks and of random attempts: the same target and seed give the same audit.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Tasks tried at most.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=MOST))]
    pub(crate) limit: u32,
    /// Audit any scorer that speaks JSON lines, e.g. `--command 'python3 scorer.py'`. It is not run by a shell.
    #[arg(long, value_name = "CMD", conflicts_with = "program")]
    pub(crate) command: Option<String>,
    /// The same as words of their own: `merit attack -- python3 scorer.py`.
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<String>,
    /// Seconds that such a scorer may take for one answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, conflicts_with = "target", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) deadline: u32,
    /// The audit as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

const SCORERS: &str = "\
A scorer first writes one line, {\"name\": \"…\", \"full\": 1.0, \"tasks\": [{\"id\": \"…\", \"prompt\": \"…\", \"answer\": \"…\"}]}, then
answers each line {\"id\": 7, \"task\": 0, \"answer\": \"…\"} with {\"id\": 7, \"score\": 0.5} or {\"id\": 7, \"error\": \"…\"}. The answer
is null where the agent gave none. `full` and a task's `answer` may be left out.";
