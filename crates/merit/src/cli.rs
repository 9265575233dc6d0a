//! What can be said to merit on the command line.

use crate::model_flags::{Chat, Generate, Model};
use crate::tape_flags::TapeFlags;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Agentic reinforcement learning in one binary.
///
/// `merit train` with nothing else makes a small agent on the spot, warm-starts it on sloppy demonstrations and lets it
/// learn by reward to use two tools over many turns, offline and on the CPU. It ends with a table and a report.
#[derive(Debug, Parser)]
#[command(name = "merit", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  merit train                                  train the default recipe, then open its report
  merit train --seed 2 --set budget.steps=20   the same with another seed and a smaller budget
  merit train --resume runs/ledger-tools-1     go on after a kill, a full disk or Ctrl-C
  merit show runs/ledger-tools-1               what happened in a run
  merit rollout --run runs/ledger-tools-1      watch the trained agent at work
  merit list credit                            the credit rules and where they come from
  merit import results.json                    read episodes other people recorded
  merit score REWARD.toml imports/results      score them by any reward; --explain says why
  merit verify maths answers.jsonl             judge answers, one JSON record a line
  merit attack maths                           can the reward be had without the work?
  merit tool run python 'print(6 * 7)'         try a tool by hand; this one in a sandbox
  merit doctor                                 what this machine gives the sandbox
  merit mcp --tool python                      serve tools to other programs
  merit chat model.gguf                        talk to a model
  merit generate model.gguf < prompts.jsonl    complete prompts, one JSON object a line
  merit model info model.gguf                  what is in a model, and what it needs";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Train a policy by a recipe; without arguments, the default recipe.
    Train(Train),
    /// Run episodes and show them turn by turn.
    Rollout(Rollout),
    /// Show what happened in a run.
    Show(Show),
    /// List the components by name, from the registries.
    List(List),
    /// Check and print recipes.
    #[command(subcommand)]
    Recipe(Recipe),
    /// Read episodes other people recorded into a folder that can be shown and scored.
    Import(Import),
    /// Score recorded episodes by any reward; `--explain` says why each got its number.
    Score(Score),
    /// Check and print rewards.
    #[command(subcommand)]
    Reward(Reward),
    /// Judge answers, one JSON record a line: mathematics, JSON, SQL, text, states, tool calls.
    #[command(subcommand)]
    Verify(Verify),
    /// Try to earn a reward without doing the work: an audit with a grade. Exit code 1 when the grade is too low.
    Attack(Attack),
    /// Try a tool by hand, or see how an agent is told of it.
    #[command(subcommand)]
    Tool(Tool),
    /// Say which layers of isolation this machine gives the sandbox. Exit code 1 when it cannot start.
    Doctor(Doctor),
    /// Serve tools to other programs by the Model Context Protocol, over standard input and output or HTTP.
    Mcp(Mcp),
    /// Talk to a model: a file, a folder, or a server.
    Chat(Chat),
    /// Complete prompts and conversations, one JSON object a line, many at a time.
    Generate(Generate),
    /// Look into model files, convert them, merge adapters.
    #[command(subcommand)]
    Model(Model),
    /// Print a completion script for a shell.
    Completions {
        /// The shell, e.g. `bash`: `merit completions bash > /etc/bash_completion.d/merit`.
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Train {
    /// Name of a shipped recipe (see `merit list recipes`) or path of a TOML file.
    pub(crate) recipe: Option<String>,
    /// Change one setting, e.g. `--set budget.steps=20`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// The run's seed: the same recipe and seed give the same episodes and weights, to the bit.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Where the run is kept [default: runs/RECIPE-SEED, or the next free name].
    #[arg(long, value_name = "FOLDER")]
    pub(crate) run: Option<PathBuf>,
    /// Go on with a run that was stopped; recipe and seed come from its folder.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["recipe", "set", "seed", "run"])]
    pub(crate) resume: Option<PathBuf>,
    /// Threads for the model [default: all cores]; results do not depend on it.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=512))]
    pub(crate) threads: Option<u16>,
    /// One JSON object a line instead of a display; the last line is the result.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) tools: TapeFlags,
}

#[derive(Debug, Args)]
pub(crate) struct Rollout {
    /// Take world and policy from a run: the trained agent at work.
    #[arg(long, value_name = "RUN", conflicts_with = "recipe")]
    pub(crate) run: Option<PathBuf>,
    /// Take the world from a recipe and let its exact oracle act, or the model that is named.
    pub(crate) recipe: Option<String>,
    /// Let a model act: a GGUF file, a folder with safetensors, or a server as `http://127.0.0.1:8000/v1#MODEL`.
    #[arg(long, conflicts_with = "run")]
    pub(crate) model: Option<String>,
    /// The environment variable that holds the key of a server.
    #[arg(long, value_name = "NAME", requires = "model")]
    pub(crate) api_key_env: Option<String>,
    /// Let whoever plays this role in the recipe act.
    #[arg(long, value_enum, conflicts_with_all = ["run", "model"])]
    pub(crate) role: Option<RoleName>,
    /// Change one setting of the recipe; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value, conflicts_with = "run")]
    pub(crate) set: Vec<(String, String)>,
    /// How many tasks.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=MOST))]
    pub(crate) tasks: u32,
    /// Episodes per task.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MOST))]
    pub(crate) group_size: u32,
    /// Which tasks.
    #[arg(long, value_enum, default_value_t = SplitName::HeldOut)]
    pub(crate) split: SplitName,
    /// Sampling temperature; 0 takes the likeliest token.
    #[arg(long, default_value_t = 0.0, value_parser = temperature)]
    pub(crate) temperature: f32,
    /// Seed of the tasks and the sampling.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// After each episode, fork it at this turn and run the fork beside it.
    #[arg(long, value_name = "TURN")]
    pub(crate) fork_at: Option<u32>,
    /// One JSON object a line: each episode with tokens, log-probabilities and score.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) tools: TapeFlags,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RoleName {
    /// The one that the warm start imitates.
    Teacher,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SplitName {
    /// Tasks the learner sees.
    Train,
    /// Tasks it never sees.
    HeldOut,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A run's folder.
    pub(crate) run: PathBuf,
    /// Show one episode turn by turn, e.g. `train/12/0/3` or `eval-before/0/5/0`.
    #[arg(long)]
    pub(crate) episode: Option<String>,
    /// One JSON object instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

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
    #[arg(long, value_name = "TEXT")]
    pub(crate) error_prefix: Vec<String>,
    /// The reported reward from which on a task counts as solved [default: the format's].
    #[arg(long, value_name = "REWARD")]
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
    pub(crate) reward: String,
    /// A run's folder, an import's folder, or a file that can be imported.
    pub(crate) episodes: PathBuf,
    /// Print the tree of every episode with all values and why, or of one: `--explain import/0/3/1`.
    #[arg(long, value_name = "EPISODE", num_args = 0..=1)]
    pub(crate) explain: Option<Option<String>>,
    /// Seed of the error rates [default: the run's].
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// The learner's discount, for potential-based shaping [default: the run's, or 1].
    #[arg(long, value_parser = discount)]
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
    /// policy says otherwise. For citations: `{"response": "… [1].", "sources": [{"id": "1", "text": "…"}]}`. For spans:
    /// `{"spans": [{"start": 0, "end": 4}], "reference_spans": […]}`.
    Text(VerifyArguments),
    /// Did the world end where it should, with nothing else touched?
    ///
    /// A record: `{"state": {…}, "goal": {…}, "initial": {…}}`. With the initial state, what nobody asked for is told from
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
    /// What counts as right, a TOML file; a record's own `policy` is laid over it.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Change one setting of the policy, e.g. `--set limits.steps=100000`; may be repeated.
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
Every record may have an `id`, which is handed on, and a `policy` of its own.

A verdict is {\"line\": 1, \"passed\": true, \"score\": 1.0, \"verdict\": {…}}. Where nobody can tell, `passed` and `score` are \
null, which is not a wrong answer.

A line that is no record becomes {\"line\": 1, \"error\": \"…\"}; the others are judged all the same, and the exit code is 2.";

#[derive(Debug, Args)]
#[command(after_help = SCORERS)]
pub(crate) struct Attack {
    /// Name of a shipped reward or recipe, or path of a TOML file that holds one.
    #[arg(required_unless_present_any = ["command", "program"], conflicts_with_all = ["command", "program"])]
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
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) deadline: u32,
    /// The audit as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

const SCORERS: &str = "\
A scorer first writes one line, {\"name\": \"…\", \"full\": 1.0, \"tasks\": [{\"id\": \"…\", \"prompt\": \"…\", \"answer\": \"…\"}]}, then
answers each line {\"id\": 7, \"task\": 0, \"answer\": \"…\"} with {\"id\": 7, \"score\": 0.5} or {\"id\": 7, \"error\": \"…\"}. The answer
is null where the agent gave none. `full` and a task's `answer` may be left out.";

#[derive(Debug, Subcommand)]
pub(crate) enum Tool {
    /// Call a tool, several times in one session when several inputs are given. Exit code 1 when a call is not answered.
    Run(ToolRun),
    /// Print what a tool says of itself, and its settings with every default.
    Show {
        /// Name of the tool (see `merit list tools`).
        name: String,
        /// Change one setting, e.g. `--set sandbox.limits.seconds=1`; may be repeated.
        #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
        set: Vec<(String, String)>,
        /// Settings, a TOML file.
        #[arg(long, value_name = "FILE")]
        settings: Option<PathBuf>,
        /// Print how a model is told of it in this format of calls (see `merit list calls`).
        #[arg(long)]
        format: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ToolRun {
    /// Name of the tool (see `merit list tools`).
    pub(crate) name: String,
    /// Inputs, one call each; `-` is standard input [default: the tool's own example].
    pub(crate) input: Vec<String>,
    /// Change one setting, e.g. `--set sandbox.limits.seconds=1`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Settings, a TOML file.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Which tool, where the settings describe several.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The payload of the task it is opened for, a JSON file [default: a table of two prices].
    #[arg(long, value_name = "FILE")]
    pub(crate) task: Option<PathBuf>,
    /// Seconds for one call.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) seconds: u32,
    /// One JSON object per call.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// The interpreter [default: `python3` of the PATH].
    #[arg(long, value_name = "FILE")]
    pub(crate) python: Option<PathBuf>,
    /// One JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// A tool to serve (see `merit list tools`); may be repeated.
    #[arg(long = "tool", value_name = "NAME", required_unless_present = "tools")]
    pub(crate) tool: Vec<String>,
    /// A TOML file with a `[[tools]]` list, as in a recipe.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Serve HTTP at this address of this machine, e.g. `127.0.0.1:8931` [default: standard input and output].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<std::net::SocketAddr>,
    /// The payload of the task that sessions are opened for, a JSON file [default: a table of two prices].
    #[arg(long, value_name = "FILE")]
    pub(crate) task: Option<PathBuf>,
    /// Seconds for one call.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) seconds: u32,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// What to list; everything when left out.
    #[arg(value_enum)]
    pub(crate) kind: Option<Kind>,
    /// One JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Worlds.
    Envs,
    /// Tools.
    Tools,
    /// Terms and combinators of rewards.
    Rewards,
    /// Credit rules.
    Credit,
    /// Objectives, normalisers, selectors and masks.
    Objectives,
    /// Model backends.
    Models,
    /// Shipped recipes.
    Recipes,
    /// Formats that can be imported.
    Formats,
    /// Formats in which models write tool calls.
    Calls,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Recipe {
    /// Check a recipe: names, keys, combinations. Exit code 2 when it cannot be used.
    Check {
        /// A TOML file, or the name of a shipped recipe.
        file: String,
    },
    /// Print a recipe with every default written out.
    Show {
        /// A TOML file, or the name of a shipped recipe.
        file: String,
    },
}

/// More episodes than anybody looks at, and few enough to be kept in memory.
const MOST: i64 = 10_000;

pub(crate) fn temperature(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(number) if f32::is_finite(number) && number >= 0.0 => Ok(number),
        _ => Err("expected 0 (greedy) or a number above it".to_owned()),
    }
}

fn discount(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err("expected KEY=VALUE, e.g. budget.steps=20".to_owned()),
    }
}
