//! Which is better, who says so, and how often are they right?
//!
//! Everything judged is an episode: an answer, a JSON document and a whole tool trace alike. A [`Pair`] is two episodes of one
//! task with a label; a [`Judge`] compares or scores episodes and answers with a typed [`Verdict`], of which a refusal, an
//! unreadable answer and a failure are never a number. [`test()`] holds any judge against labelled pairs, beside rows that know
//! nothing but length, words or the last message.
//!
//! ```
//! use merit_judge::{Checks, read_pairs, test};
//! use merit_reward::RewardConfig;
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("pairs.jsonl");
//! std::fs::write(&file, r#"{"prompt": "2 + 2?", "chosen": "4", "rejected": "That may well be five."}"#)?;
//! let short = RewardConfig::from_toml("type = 'length'\nunit = 'words'\nmin = 1\nmax = 2")?;
//! let tested = test(&mut Checks::of_reward("short", &short)?, &read_pairs(&file)?, &[], 1);
//! assert_eq!(tested.judge.accuracy, Some(1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bench;
mod checks;
mod evolving;
mod folder;
mod graded;
mod judge;
pub mod leaks;
pub mod mined;
mod pair;
mod read;
mod rightness;
mod split;
mod term;
mod test;
mod verdict;

pub use bench::{Bench, BenchRow, Kinds, Part, Versus};
pub use checks::{CheckError, Checks, compare_by_score, reward_table};
pub use evolving::{Evolved, EvolvingError, evolve_asked, evolve_checks, prune_checks};
pub use folder::{FolderError, JudgeFolder, LibraryFile, SplitShares, State};
pub use graded::{Agreement, Graded, agreement};
pub use judge::{BothOrders, Judge, both_orders};
pub use pair::{Label, Pair};
pub use read::{PairError, read_graded, read_pairs};
pub use rightness::rightness;
pub use split::Parted;
pub use term::{JudgeTerm, TERMS, register};
pub use test::{Pointwise, Row, Tested, corrected_rate, pointwise, test};
pub use verdict::{Answer, Choice, Verdict};

mod agreement;
pub mod ask;
mod asked;
mod asked_evolving;
mod kept;
mod oracle;
mod panel;
mod tournament;

pub use agreement::{Metric, alpha, kappa, kendall, spearman};
pub use asked::{AskedJudge, Asker, Asking, Put, Said};
pub use asked_evolving::{Analyst, AskedSubject};
pub use kept::{Kept, KeptError};
pub use oracle::Oracle;
pub use panel::{Panel, PanelRule, pooled};
pub use tournament::{Tournament, tournament};
