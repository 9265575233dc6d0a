//! Can this reward be had without the work? Probes, audits and grades for rewards, worlds and scorers.
//!
//! In: a [`Target`]: something that pays for what an agent does, with tasks to try it on. Out: an [`Audit`]: what every probe
//! earned beside what the right answer earns, a grade, and the exact text of each attack that won.
//!
//! [`PROBES`] is the list of everything that is tried; a caller may give another, with probes of its own. A probe is written once and tried on every target: a reward file, a
//! recipe's world, or any scorer in any language that reads and writes JSON lines.

mod audit;
mod error;
mod grade;
mod judge;
mod probe;
mod probes;
mod right;
mod subject;
mod table;
mod tally;
mod target;
pub mod targets;
pub mod tasks;

pub use audit::{Audit, Settings, audit, audit_with};
pub use error::AttackError;
pub use grade::Grade;
pub use judge::{audit_judge, pairs_of};
pub use probe::{Expect, Probe, ProbeEntry, probes_of};
#[doc(hidden)]
pub use probe::{no_settings, read_probe};
pub use probes::PROBES;
pub use subject::{Attempt, Move, Subject};
pub use tally::{Earned, ProbeResult};
pub use target::{Payment, Played, Target};
