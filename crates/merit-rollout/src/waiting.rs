//! What are we waiting for? A report that a person understands, made whenever somebody asks or nothing happens.

use crate::effect::WaitingOn;
use merit_core::EpisodeId;
use std::collections::BTreeMap;
use std::fmt;

/// What a rollout is waiting for.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    pub finished: usize,
    /// Episodes that are not over: those in flight with the longest wait first, then those not begun.
    pub episodes: Vec<WaitingEpisode>,
    /// What the sampler says of itself.
    pub sampler: String,
    /// Threads that compute for a tool, waited for or not.
    pub busy_threads: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct WaitingEpisode {
    pub id: EpisodeId,
    /// Turns it has begun.
    pub turn: u32,
    pub on: WaitingOn,
    /// Since so many seconds; 0 for those not begun.
    pub seconds: f64,
}

/// Episodes named in the text.
const SHOWN: usize = 5;

impl Waiting {
    /// Puts the longest wait first and those not begun last.
    pub(crate) fn sorted(mut self) -> Self {
        self.episodes.sort_by(|a, b| {
            let queued = |e: &WaitingEpisode| e.on == WaitingOn::Queued;
            queued(a).cmp(&queued(b)).then(b.seconds.total_cmp(&a.seconds)).then_with(|| a.id.cmp(&b.id))
        });
        self
    }

    /// The episode that has waited longest. Absent: none is in flight.
    pub fn oldest(&self) -> Option<&WaitingEpisode> {
        self.episodes.first().filter(|episode| episode.on != WaitingOn::Queued)
    }

    /// How many episodes wait for each thing, in words.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for episode in &self.episodes {
            *counts.entry(episode.on.to_string()).or_default() += 1;
        }
        counts
    }
}

impl fmt::Display for WaitingOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queued => write!(f, "not begun"),
            Self::Model => write!(f, "model"),
            Self::Thread(tool) => write!(f, "a thread for tool `{tool}`"),
            Self::Tool(tool) => write!(f, "tool `{tool}`"),
        }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> = self.counts().iter().map(|(on, count)| format!("{on}: {count}")).collect();
        let total = self.finished + self.episodes.len();
        writeln!(f, "waiting for {} of {total} episodes ({})", self.episodes.len(), counts.join(", "))?;
        for episode in self.episodes.iter().filter(|e| e.on != WaitingOn::Queued).take(SHOWN) {
            writeln!(
                f,
                "  {} waits for {} since {:.1} s, after {} turns",
                episode.id, episode.on, episode.seconds, episode.turn
            )?;
        }
        write!(f, "  sampler: {}; threads busy with tools: {}", self.sampler, self.busy_threads)
    }
}
