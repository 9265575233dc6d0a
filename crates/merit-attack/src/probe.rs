//! The seam of a probe: one way to try for a reward.
//!
//! A probe is a component without settings: a list of them stands in [`PROBES`], and a program adds its own to its components by
//! [`probe!`](crate::probe!).

use crate::PROBES;
use crate::subject::{Attempt, Subject};
use merit_core::registry::{Entry, Kind, Read};
use merit_core::schemars::{Schema, SchemaGenerator, json_schema};
use merit_core::{About, Components, Stream, settings};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a target should do about a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Pay in full: this is the right answer, or another way to write it.
    Full,
    /// Pay less than for the right answer: the work was not done.
    Less,
}

/// One way to try for a reward.
#[derive(Clone, Copy)]
pub struct Probe {
    /// Name, one line of help.
    pub about: About,
    /// What a sound target does.
    pub expect: Expect,
    /// The attempts on one task; none where the probe makes no sense for it. The stream is the probe's own.
    pub write: fn(task: usize, subject: &Subject, stream: &mut Stream) -> Vec<Attempt>,
}

impl Kind for Probe {
    const KIND: &'static str = "probe";
}

/// The entry of a probe in a list.
///
/// ```
/// use merit_attack::{Attempt, Expect, PROBES, Probe, probe, probes_of};
/// use merit_core::{About, Components};
/// const SHRUG: Probe = Probe {
///     about: About { name: "shrug", summary: "an answer that says that there is none", paper: "" },
///     expect: Expect::Less,
///     write: |task, _, _| vec![Attempt::answer(task, "who knows?")],
/// };
/// let components = Components::default().with_all(PROBES).with(probe!(SHRUG));
/// assert_eq!(probes_of(&components).last().map(|probe| probe.about.name), Some("shrug"));
/// ```
#[macro_export]
macro_rules! probe {
    ($PROBE:path) => {
        $crate::ProbeEntry {
            about: $PROBE.about,
            example: "",
            read: |table| $crate::read_probe($PROBE, table),
            schema: $crate::no_settings,
        }
    };
}

/// A probe in a list, written by [`probe!`](crate::probe!).
pub type ProbeEntry = Entry<Probe>;

/// A probe has no settings.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoSettings {}

#[doc(hidden)]
pub fn read_probe(probe: Probe, table: toml::Table) -> Result<Read<Probe>, String> {
    let none: NoSettings = settings::from_table(table).map_err(|error| error.message().to_owned())?;
    Ok((Arc::new(probe), Arc::new(none)))
}

#[doc(hidden)]
pub fn no_settings(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// The probes of `components`, in their order.
pub fn probes_of(components: &Components) -> Vec<Probe> {
    read(components.entries::<Probe>())
}

/// The probes that come with merit.
pub(crate) fn built_in() -> Vec<Probe> {
    read(PROBES)
}

fn read(entries: &[ProbeEntry]) -> Vec<Probe> {
    // Nothing is read that could be wrong.
    let read = entries.iter().filter_map(|entry| (entry.read)(toml::Table::new()).ok());
    read.map(|(probe, _)| *probe).collect()
}
