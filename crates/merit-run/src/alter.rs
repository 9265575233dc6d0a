//! Near misses: solved episodes with something altered in what was said, played again so that every observation is real.
//!
//! In: episodes of a dataset that solved their task. Out: each of them beside altered ones of the same task in the same world, scored
//! like all others. Both are played by a script, so that nothing but what was altered tells them apart. One that still solves its
//! task has the same reward, and `keep = "pairs"` leaves it out. What is said is taken for lines of words; no world is known here.

use crate::RunError;
use crate::dataset::Dataset;
use crate::parts::Parts;
use merit_api::{EnvError, Expert, ExpertTurn};
use merit_core::{Episode, EpisodeId, Outcome, Phase, Role, Seed, Stream, Task};
use merit_rollout::EpisodePlan;
use merit_store::RunFolder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Which episodes are altered, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Alter {
    /// A dataset of episodes; the first of each task that solved it is altered.
    pub from: String,
    /// What may be done to it; which, is drawn for each altered episode among those that can be done.
    pub kinds: Vec<Edit>,
}

/// What may be done to an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Edit {
    /// A turn before the last is left out.
    Drop,
    /// A turn before the last is said twice.
    Repeat,
    /// Two turns that follow each other change places.
    Swap,
    /// A word behind the first of a turn becomes another of its kind, number or word, that occurs in the episode.
    WrongArgument,
    /// The last turn is left out.
    Truncate,
    /// A turn becomes what was said in the same turn of the solved episode of another task.
    Substitute,
}

/// What an episode said, and what else it has words for.
struct Log {
    lines: Vec<String>,
    /// Words that occur in it, observations included.
    words: BTreeSet<String>,
}

impl Log {
    fn of(episode: &Episode) -> Self {
        let segments = episode.transcript.segments();
        let said = segments.iter().filter(|segment| segment.role == Role::Policy);
        let words = segments.iter().flat_map(|segment| segment.text.split_whitespace());
        Self {
            lines: said.map(|segment| plain(&segment.text)).collect(),
            words: words.filter(|word| is_plain(word)).map(str::to_owned).collect(),
        }
    }
}

/// What was said, without the marker that ends a message.
fn plain(text: &str) -> String {
    text.split("<|").next().unwrap_or_default().to_owned()
}

fn is_plain(word: &str) -> bool {
    word.chars().all(char::is_alphanumeric)
}

fn is_number(word: &str) -> bool {
    word.chars().all(|letter| letter.is_ascii_digit())
}

impl Edit {
    /// The lines with this done to them. `None`: it cannot be done, or changes nothing.
    fn apply(self, log: &Log, other: &Log, draw: &mut Stream) -> Option<Vec<String>> {
        let mut lines = log.lines.clone();
        let before_last = lines.len().checked_sub(1)?;
        let at = |bound: usize, draw: &mut Stream| (bound > 0).then(|| draw.below(bound as u64) as usize);
        match self {
            Self::Drop => drop(lines.remove(at(before_last, draw)?)),
            Self::Repeat => {
                let at = at(before_last, draw)?;
                lines.insert(at, lines[at].clone());
            }
            Self::Swap => {
                let at = at(before_last, draw)?;
                lines.swap(at, at + 1);
            }
            Self::WrongArgument => {
                let at = at(lines.len(), draw)?;
                lines[at] = misnamed(&lines[at], &log.words, draw)?;
            }
            Self::Truncate => drop(lines.pop().filter(|_| before_last > 0)?),
            Self::Substitute => {
                let at = at(lines.len().min(other.lines.len()), draw)?;
                lines[at] = other.lines[at].clone();
            }
        }
        (lines != log.lines).then_some(lines)
    }
}

/// The line with one of its words but the first replaced by another of the same kind.
fn misnamed(line: &str, words: &BTreeSet<String>, draw: &mut Stream) -> Option<String> {
    let mut said: Vec<&str> = line.split_whitespace().collect();
    let behind = said.len().checked_sub(1).filter(|behind| *behind > 0)?;
    let at = 1 + draw.below(behind as u64) as usize;
    let alike = |word: &&String| word.as_str() != said[at] && is_number(word) == is_number(said[at]);
    let others: Vec<&String> = words.iter().filter(alike).collect();
    said[at] = draw.pick(&others)?;
    // A stop string may be white space.
    Some(said.join(" ") + &line[line.trim_end().len()..])
}

/// Says the lines that belong to the seed of an episode.
pub(crate) struct Script(HashMap<Seed, Vec<String>>);

impl Expert for Script {
    fn say(&self, task: &Task, turns: &[ExpertTurn], _: f64, seed: &Seed) -> Result<String, EnvError> {
        let line = self.0.get(seed).and_then(|lines| lines.get(turns.len()));
        let why = || format!("nothing is left to say in turn {}", turns.len());
        let none = || EnvError::Task { world: "any", task: task.id.clone(), why: why() };
        line.cloned().ok_or_else(none)
    }
}

/// Plans that are played together, no two of which have the same seed, and what is said in them.
pub(crate) type Round = (Vec<EpisodePlan>, Script);

impl Alter {
    /// `Err` with the reason where nothing can be altered so.
    pub(crate) fn check(&self) -> Result<(), String> {
        let kinds: BTreeSet<Edit> = self.kinds.iter().copied().collect();
        match kinds.is_empty() || kinds.len() < self.kinds.len() {
            true => Err("`alter.kinds` is empty or has a kind twice; name what may be done, as in [\"wrong-argument\", \"swap\"]".into()),
            false => Ok(()),
        }
    }

    /// The solved episodes of tasks `first` to `first + tasks` of the dataset as they were, then `samples` times altered.
    pub(crate) fn plan(
        &self,
        (from, folder, parts): (&Dataset, &RunFolder, &Parts),
        (phase, step): (&Phase, u64),
        (first, tasks, samples): (usize, usize, u32),
    ) -> Result<Vec<Round>, RunError> {
        let solved = |task: &Vec<merit_core::ScoredEpisode>| {
            task.iter().find(|one| one.outcome() == Outcome::Solved).map(|one| Arc::clone(&one.episode))
        };
        let all: Vec<Arc<Episode>> = from.read(folder)?.iter().filter_map(solved).collect();
        let logs: Vec<Log> = all.iter().map(|episode| Log::of(episode)).collect();
        let mut rounds: Vec<Round> = Vec::new();
        rounds.resize_with(samples as usize + 1, || (Vec::new(), Script(HashMap::new())));
        for (group, at) in (0..).zip(first..all.len().min(first + tasks)) {
            let (seed, task) = (seed_of(parts, &all[at].id), &all[at].task);
            for (member, (plans, script)) in (0..).zip(&mut rounds) {
                let mut draw = parts.seed_of("alter", phase).child(&task.id, u64::from(member)).stream();
                let other = &logs[draw.below(logs.len() as u64) as usize];
                let lines = match member {
                    0 => Some(logs[at].lines.clone()),
                    _ => self.draw(&logs[at], other, &mut draw),
                };
                let Some(lines) = lines else { continue };
                let id = EpisodeId { phase: phase.clone(), step, group, member, branch: 0 };
                let plan = EpisodePlan::new(id, Arc::clone(task), seed);
                plans.push(plan.with_max_turns(lines.len() as u32));
                script.0.insert(seed, lines);
            }
        }
        Ok(rounds)
    }

    /// An altered log by the first of the kinds, in an order that is drawn, that can be done.
    fn draw(&self, log: &Log, other: &Log, draw: &mut Stream) -> Option<Vec<String>> {
        let mut kinds = self.kinds.clone();
        draw.shuffle(&mut kinds);
        kinds.into_iter().find_map(|kind| kind.apply(log, other, draw))
    }
}

/// The seed of an episode that the run has played, which opens its world again.
fn seed_of(parts: &Parts, id: &EpisodeId) -> Seed {
    let step = parts.seed.child(&id.phase.seed_name(), 0).child("step", id.step);
    step.child("group", u64::from(id.group)).child("member", u64::from(id.member))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(lines: &[&str], seen: &str) -> Log {
        let words = lines.iter().flat_map(|line| line.split_whitespace()).chain(seen.split_whitespace());
        Log {
            words: words.map(str::to_owned).collect(),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        }
    }

    fn altered(kind: Edit, of: &[&str]) -> Vec<Option<Vec<String>>> {
        let other = log(&["find blue", "none"], "");
        let draw = |seed| kind.apply(&log(of, "got 12 40"), &other, &mut Seed::root(seed).stream());
        (0..32).map(draw).collect()
    }

    #[test]
    fn every_kind_does_one_thing() {
        let said = ["find red", "show 12", "pick 12"];
        let lines = |all: &[&str]| Some(all.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
        let all_among = |kind: Edit, of: &[&[&str]]| {
            let wanted: BTreeSet<_> = of.iter().map(|one| lines(one)).collect();
            let found: BTreeSet<_> = altered(kind, &said).into_iter().collect();
            assert_eq!(found, wanted, "{kind:?}");
        };
        all_among(Edit::Drop, &[&["show 12", "pick 12"], &["find red", "pick 12"]]);
        all_among(
            Edit::Repeat,
            &[
                &["find red", "find red", "show 12", "pick 12"],
                &["find red", "show 12", "show 12", "pick 12"],
            ],
        );
        all_among(Edit::Swap, &[&["show 12", "find red", "pick 12"], &["find red", "pick 12", "show 12"]]);
        all_among(Edit::Truncate, &[&["find red", "show 12"]]);
        all_among(
            Edit::Substitute,
            &[&["find blue", "show 12", "pick 12"], &["find red", "none", "pick 12"]],
        );
        // A number becomes the other number that was seen, a word another word.
        let wrong = altered(Edit::WrongArgument, &said);
        assert!(wrong.contains(&lines(&["find red", "show 40", "pick 12"])));
        assert!(wrong.contains(&lines(&["find red", "show 12", "pick 40"])));
        assert!(wrong.iter().flatten().all(|one| one.len() == 3 && one[0].starts_with("find ")));
    }

    #[test]
    fn what_cannot_be_done_is_not_done() {
        for kind in [Edit::Drop, Edit::Repeat, Edit::Swap, Edit::WrongArgument, Edit::Truncate] {
            assert!(altered(kind, &["none"]).iter().all(Option::is_none), "{kind:?}");
        }
        assert!(altered(Edit::Swap, &["hm", "hm"]).iter().all(Option::is_none), "nothing changes");
        assert_eq!((plain("find red<|end|>"), plain("call add\n")), ("find red".into(), "call add\n".into()));
    }
}
