//! What a teacher showed: played once, judged, kept in the run's folder, and told again in the policy's own tokens.
//!
//! In: the tasks of the warm start and the teacher. Out: [`Lessons`], a demonstrator that repeats what the teacher said. A
//! teacher is not asked twice for what it gave: a run that goes on finds it in its folder. What a teacher could not do and what
//! was lost on the way are counted apart, and neither is imitated.

use crate::RunError;
use crate::driver::Options;
use crate::parts::Parts;
use crate::progress::{Event, stalls};
use crate::warm;
use merit_api::{EnvError, Expert, ExpertTurn};
use merit_core::{End, Outcome, Role, ScoredEpisode, Seed, Task};
use merit_reward::RewardState;
use merit_rollout::{EpisodePlan, RolloutSettings, ToolRuntime, roll_out};
use merit_store::RunFolder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// Kept in the run's folder, a JSON object a line.
const FILE: &str = "lessons.jsonl";
/// The mark that says that no more will be asked for.
const COMPLETE: &str = "lessons-complete";
/// Episodes that are played before they are kept.
const AT_ONCE: usize = 64;
/// Most tokens of a teacher's turn, in its own vocabulary.
const TURN_TOKENS: usize = 1024;
/// One lesson in so many may be lost to failures of the machinery.
const LOST_IN: usize = 20;

/// Which episodes of a teacher are imitated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// Those that solved their task.
    #[default]
    Solved,
    /// Those that came to an end of their own, right or wrong.
    Finished,
}

/// One episode of the teacher.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lesson {
    task: String,
    outcome: Outcome,
    /// Whether it came to an end of its own.
    finished: bool,
    /// What broke; empty where nothing did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    fault: String,
    /// What was said, turn by turn.
    said: Vec<String>,
}

impl Lesson {
    fn of(scored: &ScoredEpisode) -> Self {
        let episode = &scored.episode;
        let spoken = episode.transcript.segments().iter().filter(|segment| segment.role == Role::Policy);
        let fault = match &episode.end {
            End::Failed { fault } => fault.message.clone(),
            _ => String::new(),
        };
        Self {
            task: episode.task.id.clone(),
            outcome: scored.outcome(),
            finished: episode.end.terminal(),
            fault,
            said: spoken.map(|segment| segment.text.clone()).collect(),
        }
    }

    /// Whether it says nothing of the teacher, so that it has to be asked again.
    fn lost(&self) -> bool {
        matches!(self.outcome, Outcome::InfrastructureFailed | Outcome::GraderFailed)
    }

    fn kept(&self, keep: Keep) -> bool {
        match keep {
            Keep::Solved => self.outcome == Outcome::Solved && self.finished,
            Keep::Finished => self.finished && !self.lost(),
        }
    }
}

/// The episodes of a teacher that are imitated.
pub(crate) struct Lessons {
    /// What came of asking, in words.
    pub(crate) summary: String,
    world: &'static str,
    said: BTreeMap<String, Vec<String>>,
}

impl Lessons {
    /// Whether there is one for this task.
    pub(crate) fn teach(&self, task: &Task) -> bool {
        self.said.contains_key(&task.id)
    }
}

impl Expert for Lessons {
    fn say(&self, task: &Task, turns: &[ExpertTurn], _: f64, _: &Seed) -> Result<String, EnvError> {
        let said = self.said.get(&task.id).and_then(|said| said.get(turns.len()));
        said.cloned().ok_or_else(|| EnvError::Broken {
            world: self.world,
            why: format!(
                "the teacher of {} said nothing in turn {}; the world does not answer as it did",
                task.id,
                turns.len()
            ),
        })
    }
}

/// The lessons of the recipe's teacher: those in the folder, and the others by asking. `None` where the world's own
/// demonstrator teaches.
pub(crate) fn gather(
    parts: &Parts,
    folder: &mut RunFolder,
    tools: &ToolRuntime,
    options: &Options,
    watch: &mut dyn FnMut(Event),
) -> Result<Option<Lessons>, RunError> {
    if parts.recipe.roles.teacher.is_oracle() {
        return Ok(None);
    }
    let env = parts.demonstration_env()?;
    let plans = warm::plans(parts, env, parts.recipe.warm().demonstrations)?;
    let mut known = read(folder)?;
    // Once they were enough to begin with, later parts of the run see the same.
    let complete = folder.mark(COMPLETE)?.unwrap_or(false);
    let wanted = |plan: &&EpisodePlan| !complete && known.get(&plan.task.id).is_none_or(Lesson::lost);
    let missing: Vec<EpisodePlan> = plans.iter().filter(wanted).cloned().collect();
    if !missing.is_empty() {
        watch(Event::Note { text: format!("asking the teacher for {} demonstrations", missing.len()) });
        let (chat, mut sampler) = parts.recipe.roles.teacher.open(
            env,
            &missing,
            options.threads,
            parts.seed.child("teacher", 0),
        )?;
        let mut settings = RolloutSettings { max_turn_tokens: TURN_TOKENS, ..parts.recipe.rollout.clone() };
        settings.max_episode_tokens = usize::MAX;
        // All are written anew each time, so that the file is always whole.
        for part in missing.chunks(AT_ONCE.max(missing.len() / 16)) {
            if options.interrupt.load(Ordering::Relaxed) {
                return Err(RunError::Interrupted { run: folder.path().display().to_string() });
            }
            let sampler = sampler.as_mut();
            let episodes =
                roll_out(part.to_vec(), env, sampler, &chat, &settings, tools, &mut stalls(&mut *watch));
            parts.toolbox.check()?;
            let (said, state) = (parts.annotators.ask(&episodes), RewardState::default());
            let scored = parts.scorer.score_annotated(&episodes, &said, &parts.context(0), &state);
            known.extend(scored.episodes.iter().map(Lesson::of).map(|lesson| (lesson.task.clone(), lesson)));
            write(folder, &known)?;
        }
    }
    let asked: Vec<&Lesson> = plans.iter().filter_map(|plan| known.get(&plan.task.id)).collect();
    let lessons = judge(parts, folder, &asked)?;
    folder.set_mark(COMPLETE, &true)?;
    Ok(Some(lessons))
}

/// Refuses a teacher that is not there or cannot do it.
fn judge(parts: &Parts, folder: &RunFolder, asked: &[&Lesson]) -> Result<Lessons, RunError> {
    let count = |outcome: Outcome| asked.iter().filter(|lesson| lesson.outcome == outcome).count();
    let counts = Outcome::ALL.iter().map(|&outcome| (count(outcome), outcome)).filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts.map(|(n, outcome)| format!("{n} {}", outcome.name())).collect();
    let lost: Vec<&&Lesson> = asked.iter().filter(|lesson| lesson.lost()).collect();
    if let Some(first) = lost.first().filter(|_| lost.len() * LOST_IN > asked.len()) {
        return Err(RunError::TeacherLost {
            lost: lost.len(),
            asked: asked.len(),
            task: first.task.clone(),
            why: first.fault.clone(),
            run: folder.path().display().to_string(),
        });
    }
    let keep = parts.recipe.warm().keep.unwrap_or_default();
    let kept = asked.iter().filter(|lesson| lesson.kept(keep));
    let said: BTreeMap<String, Vec<String>> =
        kept.map(|lesson| (lesson.task.clone(), lesson.said.clone())).collect();
    let counts = counts.join(", ");
    if said.is_empty() {
        return Err(RunError::NothingTaught { asked: asked.len(), counts });
    }
    let (all, imitated) = (asked.len(), said.len());
    let summary =
        format!("the teacher showed {all} demonstrations ({counts}); {imitated} of them are imitated");
    Ok(Lessons { summary, world: parts.env.about().name, said })
}

fn read(folder: &RunFolder) -> Result<BTreeMap<String, Lesson>, RunError> {
    let path = folder.path().join(FILE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(damaged(&path, &error)),
    };
    let lesson = |(line, text): (usize, &str)| {
        let lesson: Lesson = serde_json::from_str(text)
            .map_err(|error| damaged(&path, &format!("line {}: {error}", line + 1)))?;
        Ok((lesson.task.clone(), lesson))
    };
    text.lines().enumerate().map(lesson).collect()
}

fn damaged(path: &std::path::Path, why: &dyn std::fmt::Display) -> RunError {
    RunError::Lessons { file: path.display().to_string(), why: why.to_string() }
}

fn write(folder: &RunFolder, lessons: &BTreeMap<String, Lesson>) -> Result<(), RunError> {
    let line = |lesson: &Lesson| serde_json::to_string(lesson).expect("plain data becomes JSON") + "\n";
    let text: String = lessons.values().map(line).collect();
    folder.write_file(FILE, text.as_bytes())?;
    Ok(())
}
