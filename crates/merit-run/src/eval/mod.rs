//! How good is a model on the tasks of a recipe? Episodes are recorded in a folder of their own as they are played: what is
//! there is not played again, more tasks or samples are added to it, and `merit compare` reads it like a run.

mod player;
mod table;

pub use player::Player;
pub use table::{EvalResult, Part, Share};

use crate::parts::{Parts, Plan, distinct};
use crate::progress::{Event, stalls};
use crate::recipe::Recipe;
use crate::{RunError, now_ms};
use merit_core::{
    EpisodeId, Outcome, Phase, PolicyVersion, ScoredEpisode, Split, StageKind, Task, When, hex,
};
use merit_rollout::{EpisodePlan, RolloutSettings, ToolRuntime, roll_out};
use merit_store::{EpisodeFilter, RunFolder, RunInfo};
use merit_tools::Toolbox;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// One model on the tasks of one recipe.
pub struct Eval<'a> {
    /// World, rollout and reward.
    pub recipe: &'a Recipe,
    pub player: &'a Player,
    /// What the player is called in tables and in the name of its folder.
    pub name: &'a str,
    /// Which tasks: of these splits, one after the other.
    pub splits: &'a [Split],
    /// At most this many of each split.
    pub tasks: u32,
    /// Episodes of each task that are sampled beside the greedy one.
    pub samples: u32,
    /// What success is broken down by: infos of the world, or places in the payload.
    pub by: &'a [String],
    /// Seed of tasks and sampling.
    pub seed: u64,
    pub threads: usize,
    /// How tool calls are answered.
    pub toolbox: Toolbox,
}

/// Episodes that are played together and then recorded: as many are lost when the process is killed.
const TOGETHER: usize = 32;
/// The metric that sums up how long playing took.
const SECONDS: &str = "seconds";

impl Eval<'_> {
    /// Plays what is not there yet, in a folder of its own under `home`, and sums up. `watch` also hears how many of how many
    /// episodes are there.
    pub fn run(
        &self,
        home: &Path,
        watch: &mut dyn FnMut(Event),
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<EvalResult, RunError> {
        let mut parts = Parts::with_toolbox(self.recipe, self.seed, &self.toolbox)?;
        self.player.loosen(&mut parts);
        let tasks = self.draw(&parts)?;
        if tasks.is_empty() {
            return Err(RunError::Tasks("the world has no task of the split that was asked for".into()));
        }
        let folder = self.folder(home)?;
        let greedy = self.plans(&parts, &tasks, greedy_phase(), 1);
        let sampled = self.plans(&parts, &tasks, samples_phase(), self.samples);
        let all: Vec<EpisodePlan> = greedy.into_iter().chain(sampled).collect();
        let mut found = Found::read(&folder, &all)?;
        let open = found.missing(&all);
        if !open.is_empty() {
            self.play(&parts, &folder, &all, open, &mut found, watch, progress)?;
        }
        parts.toolbox.check()?;
        let seconds = folder.metric(greedy_phase(), SECONDS)?.last().map_or(0.0, |(_, value)| *value);
        Ok(table::result(self, &folder, found.of(&all), seconds))
    }

    /// The tasks of the splits, no two the same.
    fn draw(&self, parts: &Parts) -> Result<Vec<Arc<Task>>, RunError> {
        let seed = parts.seed.child("tasks", 0);
        let mut tasks = Vec::new();
        let mut refused = None;
        for split in self.splits {
            match distinct(parts.env.as_ref(), *split, 0, self.tasks as usize, &seed) {
                Ok(drawn) => tasks.extend(drawn.into_iter().map(Arc::new)),
                Err(error) => refused = Some(error),
            }
        }
        // Of two splits one may be empty.
        match refused {
            Some(error) if tasks.is_empty() => Err(error.into()),
            _ => Ok(tasks),
        }
    }

    fn plans(&self, parts: &Parts, tasks: &[Arc<Task>], phase: Phase, each: u32) -> Vec<EpisodePlan> {
        let plan = Plan {
            phase,
            step: 0,
            split: Split::HeldOut,
            first: 0,
            groups: tasks.len() as u32,
            group_size: each,
            version: PolicyVersion(0),
        };
        parts.plans_of(&plan, 0, tasks.iter().cloned())
    }

    #[expect(clippy::too_many_arguments, reason = "what `run` has at hand")]
    fn play(
        &self,
        parts: &Parts,
        folder: &RunFolder,
        all: &[EpisodePlan],
        open: Vec<EpisodePlan>,
        found: &mut Found,
        watch: &mut dyn FnMut(Event),
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(), RunError> {
        let mut seated = self.player.open(parts, all, self.threads)?;
        let tools = ToolRuntime::new()?;
        let sampling = parts.recipe.rollout.clone();
        let greedy = RolloutSettings { temperature: 0.0, ..sampling.clone() };
        let (mut done, of) = (all.len() - open.len(), all.len());
        for chunk in open.chunk_by(|a, b| a.id.phase == b.id.phase).flat_map(|same| same.chunks(TOGETHER)) {
            let began = Instant::now();
            let settings = if chunk[0].id.phase == greedy_phase() { &greedy } else { &sampling };
            let plans = chunk.iter().map(|plan| plan.clone().with_policy_version(seated.version)).collect();
            let env = parts.env.as_ref();
            let sampler = seated.sampler.as_mut();
            let episodes =
                roll_out(plans, env, sampler, &seated.chat, settings, &tools, &mut stalls(&mut *watch));
            let annotations = parts.annotators.ask(&episodes);
            let context = parts.context(seated.version.0);
            let scored = parts.scorer.score_annotated(&episodes, &annotations, &context, &seated.state);
            folder.record_annotated(&scored.episodes, &annotations)?;
            let before = folder.metric(greedy_phase(), SECONDS)?.last().map_or(0.0, |(_, value)| *value);
            folder.record_metrics(greedy_phase(), 0, &[(SECONDS, before + began.elapsed().as_secs_f64())])?;
            found.add(scored.episodes);
            done += chunk.len();
            progress(done, of);
        }
        Ok(())
    }

    /// The folder that this evaluation is kept in: one for each player, recipe, choice of splits and seed.
    fn folder(&self, home: &Path) -> Result<RunFolder, RunError> {
        let splits: Vec<&str> = self.splits.iter().map(|split| split.name()).collect();
        let asked = format!("{}\n{}\n{}", self.player.identity()?, self.recipe.hash(), splits.join(","));
        let hash = hex(&Sha256::digest(asked.as_bytes()))[..16].to_owned();
        let name = format!("{}-on-{}-{}-{}", short(self.name), self.recipe.name, &hash[..8], self.seed);
        let path = home.join(name);
        if path.join("merit.db").exists() {
            return Ok(RunFolder::open(&path)?);
        }
        let info = RunInfo {
            recipe: self.name.to_owned(),
            recipe_hash: hash,
            seed: self.seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_ms: now_ms(),
        };
        Ok(RunFolder::create(&path, &self.recipe.to_toml(), &info)?)
    }
}

/// The phase of greedy episodes.
fn greedy_phase() -> Phase {
    Phase::eval(When::After)
}

fn samples_phase() -> Phase {
    Phase::Stage(StageKind::Samples, "after".into())
}

/// The last part of a path or an address, in letters that every file system takes.
fn short(name: &str) -> String {
    let last = name.rsplit(['#', '/']).find(|part| !part.is_empty()).unwrap_or(name);
    let last = last.strip_suffix(".gguf").unwrap_or(last);
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    last.chars().map(plain).take(64).collect()
}

/// Which episode of which task, whatever the try.
type Place = (String, u32, u32);

fn place(id: &EpisodeId) -> Place {
    (id.phase.to_string(), id.group, id.member)
}

/// The episodes that are there: the last try of each.
struct Found(BTreeMap<Place, ScoredEpisode>);

impl Found {
    /// Reads the folder. Refuses one whose tasks are not those of `plans`.
    fn read(folder: &RunFolder, plans: &[EpisodePlan]) -> Result<Self, RunError> {
        let mut found = Self(BTreeMap::new());
        let stored = folder.episodes(&EpisodeFilter::default())?;
        found.add(stored.into_iter().map(|one| one.scored).collect());
        let other = |plan: &&EpisodePlan| {
            found.0.get(&place(&plan.id)).is_some_and(|one| *one.episode.task != *plan.task)
        };
        if let Some(plan) = plans.iter().find(other) {
            return Err(RunError::Tasks(format!(
                "task {} is not what it was when {} was begun; remove that folder, or name another one with --out",
                plan.task.id,
                folder.path().display()
            )));
        }
        Ok(found)
    }

    fn add(&mut self, episodes: Vec<ScoredEpisode>) {
        for one in episodes {
            let key = place(&one.episode.id);
            let older = self.0.get(&key).is_none_or(|known| known.episode.id.step <= one.episode.id.step);
            if older {
                self.0.insert(key, one);
            }
        }
    }

    /// Plans that were never played, or broke without the player's doing: those are tried again, as the next step.
    fn missing(&self, plans: &[EpisodePlan]) -> Vec<EpisodePlan> {
        let again = |plan: &EpisodePlan| match self.0.get(&place(&plan.id)) {
            None => Some(plan.clone()),
            Some(known) => {
                let broke = matches!(known.outcome(), Outcome::InfrastructureFailed | Outcome::GraderFailed);
                let id = EpisodeId { step: known.episode.id.step + 1, ..plan.id.clone() };
                broke.then(|| EpisodePlan { id, ..plan.clone() })
            }
        };
        plans.iter().filter_map(again).collect()
    }

    /// Greedy episodes and samples of `plans`.
    fn of(&self, plans: &[EpisodePlan]) -> (Vec<ScoredEpisode>, Vec<ScoredEpisode>) {
        let own = plans.iter().filter_map(|plan| self.0.get(&place(&plan.id))).cloned();
        own.partition(|one| one.episode.id.phase == greedy_phase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_called_by_the_last_part_of_the_name() {
        assert_eq!(short("models/SmolLM2-135M.gguf"), "SmolLM2-135M");
        assert_eq!(short("runs/my.run-1/"), "my.run-1");
        assert_eq!(short("http://127.0.0.1:8000/v1#Qwen/Qwen3 0.6B"), "Qwen3-0.6B");
    }
}
