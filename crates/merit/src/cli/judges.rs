//! `merit judge`, `merit bench`, `merit evolve` and `merit library`.

use super::completing;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Judge {
    /// Ask a judge about recorded episodes, or about answers that are given here.
    Ask(JudgeAsk),
    /// How often is a judge right? Holds it against labelled pairs in both orders, beside rows that know nothing of quality.
    Test(JudgeTest),
}

#[derive(Debug, Args)]
pub(crate) struct JudgeAsk {
    /// The judge: a TOML file, or a folder with `judge.toml`.
    pub(crate) judge: PathBuf,
    /// Runs' folders, imports' folders, or files that can be imported. A judge that gives numbers scores each episode; one that
    /// compares ranks those of each task.
    #[arg(required_unless_present = "a", conflicts_with_all = ["prompt", "a", "b"], add = completing::runs())]
    pub(crate) episodes: Vec<PathBuf>,
    /// What was asked.
    #[arg(long, requires = "a", allow_hyphen_values = true)]
    pub(crate) prompt: Option<String>,
    /// An answer; alone it gets a number.
    #[arg(long, requires = "prompt", allow_hyphen_values = true)]
    pub(crate) a: Option<String>,
    /// Another answer; the two are compared in both orders.
    #[arg(long, requires = "a", allow_hyphen_values = true)]
    pub(crate) b: Option<String>,
    /// Write every judgement as an episode into a new folder, for `merit show` and `merit score`.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) record: Option<PathBuf>,
    /// One JSON object for each verdict.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct JudgeTest {
    /// A judge's folder, perhaps with a version (`my-judge@12`), or a reward: a file, or the name of a shipped one.
    #[arg(add = completing::rewards())]
    pub(crate) judge: String,
    /// Pairs: JSON lines (`prompt` with `chosen` and `rejected`, with `a`, `b` and `label`, or with `response` and `rating`), or the
    /// folder of a run or an import.
    pub(crate) pairs: PathBuf,
    /// Ask so many times, to see whether verdicts drift.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// Also as a verdict on single answers: better ones should score at least so much. Without a number the middle score is taken.
    #[arg(long, value_name = "SCORE", num_args = 0..=1, allow_negative_numbers = true)]
    pub(crate) threshold: Option<Option<f64>>,
    /// A success rate that the judge observed elsewhere; it is corrected for the errors that `--threshold` finds.
    #[arg(long, value_name = "RATE", requires = "threshold")]
    pub(crate) observed: Option<f64>,
    /// Write every judgement as an episode into a new folder, for `merit show` and `merit score`.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) record: Option<PathBuf>,
    /// One JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Several judges on the same pairs, side by side, with what knows nothing of quality among the rows.
    Judge(BenchJudge),
}

#[derive(Debug, Args)]
pub(crate) struct BenchJudge {
    /// Judges' folders, perhaps with a version (`my-judge@12`), files that say what a model is asked, panels, rewards, and models that
    /// were fitted in a run (`runs/a-1:reward`).
    #[arg(required = true, add = completing::rewards())]
    pub(crate) judges: Vec<String>,
    /// Pairs, as for `merit judge test`: JSON lines, or the folder of a run or an import.
    #[arg(long, value_name = "PAIRS")]
    pub(crate) on: PathBuf,
    /// Also by kind of pairs: an info of the world at the end, or a place in the payload such as `/kind`.
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Ask so many times, to see whether verdicts drift.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// One JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Evolve {
    /// The judge's folder; made if it is not there.
    pub(crate) judge: PathBuf,
    /// Pairs to learn from, as for `merit judge test`.
    #[arg(long, value_name = "PAIRS")]
    pub(crate) from: PathBuf,
    /// Checks of your own to choose from: a file of tables, each a reward expression under a name.
    #[arg(long, value_name = "FILE")]
    pub(crate) checks: Option<PathBuf>,
    /// A setting of `library.toml` for a new judge, e.g. `evolve.rounds=20`; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// One JSON object for each change, and one at the end.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Library {
    /// Every change that was tried, kept or not, with what it did.
    Log {
        /// The judge's folder.
        judge: PathBuf,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// What differs between two versions.
    Diff {
        /// The judge's folder.
        judge: PathBuf,
        /// From this version.
        from: usize,
        /// To this one [default: the one in use].
        to: Option<usize>,
    },
    /// Put an earlier version in use; or, without one, bring back the entries of the version in use.
    Revert {
        /// The judge's folder.
        judge: PathBuf,
        /// The version.
        version: Option<usize>,
    },
    /// Make a version of entries that were changed by hand.
    Commit {
        /// The judge's folder.
        judge: PathBuf,
        /// Why.
        #[arg(short, long, default_value = "changed by hand")]
        message: String,
    },
    /// Take out entries without which the validation pairs do no worse.
    Prune {
        /// The judge's folder.
        judge: PathBuf,
        /// The pairs it was evolved from.
        #[arg(long, value_name = "PAIRS")]
        from: PathBuf,
        /// What all of them together may cost, as a share of the pairs.
        #[arg(long, default_value_t = 0.0)]
        margin: f64,
    },
    /// Write the checks in use as a reward file, which needs no judge. Refused where the judge does not beat what knows nothing of
    /// quality.
    Export {
        /// The judge's folder, perhaps with a version.
        judge: String,
        /// Where to; a file that is there is left alone.
        #[arg(long = "as", value_name = "FILE")]
        to: PathBuf,
        /// Even where it does not beat what knows nothing of quality.
        #[arg(long)]
        force: bool,
    },
}
