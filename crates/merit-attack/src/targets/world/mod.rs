//! A recipe's world and reward as a target: attempts are played in the real world by a scripted policy and scored by the
//! recipe's reward.
//!
//! Gold is the world's own oracle. An answer is worded as the oracle words its last turn; a call, as it words its calls. A
//! policy whose script has ended says nothing more, until the world or a limit ends the episode. The limits on tokens do not
//! apply: they are for the policy's vocabulary, and scripts speak in bytes.

mod dialect;
mod policies;

use super::reward::payment;
use crate::error::AttackError;
use crate::subject::{Attempt, Move, Subject};
use crate::target::{Payment, Played, Target};
use dialect::Dialect;
use merit_core::{Action, Episode, EpisodeId, PolicyVersion, Role, Split};
use merit_model::{Sampler, Tokenizer};
use merit_reward::RewardState;
use merit_rollout::{
    ChatFormat, Cue, EpisodePlan, OracleSampler, OracleSettings, Reply, RolloutSettings, ScriptedSampler,
    ToolRuntime, roll_out, session_of,
};
use merit_run::{Parts, Plan, Recipe};
use std::collections::HashMap;
use std::sync::Arc;

/// A recipe's world with its reward.
pub struct WorldTarget {
    parts: Parts,
    settings: RolloutSettings,
    chat: ChatFormat,
    tools: ToolRuntime,
    /// One per task: the plan of its oracle's episode.
    plans: Vec<EpisodePlan>,
    /// One per task: what the oracle did.
    oracle: Vec<Arc<Episode>>,
    subjects: Vec<Subject>,
    dialects: Vec<Dialect>,
}

impl WorldTarget {
    /// The world and reward of `recipe`, with the first `tasks` training tasks that `seed` gives.
    pub fn new(recipe: &Recipe, seed: u64, tasks: u32) -> Result<Self, AttackError> {
        let bad = |why: String| AttackError::Target { target: recipe.name.clone(), why };
        let parts = Parts::new(recipe, seed).map_err(|e| bad(e.to_string()))?;
        let chat = ChatFormat::new(Arc::new(Tokenizer::train(std::iter::empty(), 0)))
            .map_err(|e| bad(e.to_string()))?;
        let plan = Plan {
            phase: "attack".into(),
            step: 0,
            split: Split::Train,
            first: 0,
            groups: tasks,
            group_size: 1,
            version: PolicyVersion(0),
        };
        let settings = RolloutSettings {
            max_turn_tokens: usize::MAX,
            max_episode_tokens: usize::MAX,
            ..recipe.rollout.clone()
        };
        let plans = parts.plans(&plan).map_err(|e| bad(e.to_string()))?;
        let tools = ToolRuntime::new().map_err(|e| bad(format!("cannot start the threads of tools: {e}")))?;
        let mut oracle = OracleSampler::new(parts.env.as_ref(), &chat, &OracleSettings::default(), &plans)
            .map_err(|e| bad(e.to_string()))?;
        let env = parts.env.as_ref();
        let played = roll_out(plans.clone(), env, &mut oracle, &chat, &settings, &tools, &mut |_| {});
        drop(oracle);
        let dialects: Vec<Dialect> = played.iter().map(|episode| Dialect::of(episode)).collect();
        let mut subjects: Vec<Subject> = played.iter().map(|episode| subject(episode)).collect();
        add_others(&mut subjects, &played);
        Ok(Self { parts, settings, chat, tools, plans, oracle: played, subjects, dialects })
    }

    /// Plays one episode per entry of `tasks` with `sampler`, and scores each in a group with the oracle, so that rewards
    /// which compare the members of a group have something to compare.
    fn play_with(
        &self,
        tasks: &[usize],
        phase: &str,
        sampler: impl FnOnce(&[EpisodePlan]) -> Box<dyn Sampler>,
    ) -> Vec<(Arc<Episode>, Payment)> {
        let plans: Vec<EpisodePlan> = tasks
            .iter()
            .enumerate()
            .map(|(group, &task)| EpisodePlan {
                id: EpisodeId { phase: phase.into(), step: 0, group: group as u32, member: 0, branch: 0 },
                ..self.plans[task].clone()
            })
            .collect();
        let mut sampler = sampler(&plans);
        let env = self.parts.env.as_ref();
        let chat = &self.chat;
        let played = roll_out(plans, env, sampler.as_mut(), chat, &self.settings, &self.tools, &mut |_| {});
        let beside = |(episode, &task): (&Arc<Episode>, &usize)| {
            let id = EpisodeId { member: 1, ..episode.id.clone() };
            let gold = Arc::new(Episode { id, ..(*self.oracle[task]).clone() });
            [Arc::clone(episode), gold]
        };
        let batch: Vec<Arc<Episode>> = played.iter().zip(tasks).flat_map(beside).collect();
        let scored = self.parts.scorer.score_batch(&batch, &self.parts.context(0), &RewardState::default());
        let own = scored.episodes.iter().filter(|s| s.episode.id.member == 0);
        own.map(|s| (Arc::clone(&s.episode), payment(s))).collect()
    }

    /// The lines of an attempt, in the world's dialect.
    fn lines(&self, attempt: &Attempt) -> Vec<String> {
        let dialect = &self.dialects[attempt.task];
        attempt.moves.iter().map(|done| dialect.word(done)).collect()
    }
}

/// What a policy said, turn by turn.
fn said(episode: &Episode) -> String {
    let moves = dialect::policy_texts(episode).map(|text| Move::Raw { text: text.trim_end().to_owned() });
    Attempt { task: 0, moves: moves.collect() }.text()
}

fn subject(episode: &Episode) -> Subject {
    let opening = episode.transcript.segments().iter().take_while(|s| s.role != Role::Policy);
    let prompt: Vec<&str> = opening.filter(|s| s.role == Role::User).map(|s| s.text.as_str()).collect();
    let mut tools: Vec<String> =
        episode.turns.iter().flat_map(|turn| &turn.calls).map(|record| record.call.tool.clone()).collect();
    tools.sort();
    tools.dedup();
    let turns = episode.turns.iter().zip(dialect::policy_texts(episode));
    let moves = turns.map(|(turn, text)| match &turn.action {
        Action::Answer { text } => Move::Answer { text: text.clone() },
        _ => Move::Raw { text: text.to_owned() },
    });
    Subject {
        id: episode.task.id.clone(),
        prompt: prompt.join("\n"),
        gold: episode.answer().map(str::to_owned),
        gold_moves: moves.collect(),
        reported: false,
        others: Vec::new(),
        tools,
    }
}

/// Right answers of other tasks stand for wrong ones, where a task has one right answer; where it has many, another's may be right.
fn add_others(subjects: &mut [Subject], played: &[Arc<Episode>]) {
    let answers: Vec<String> = subjects.iter().filter_map(|s| s.gold.clone()).collect();
    let single = subjects.iter_mut().zip(played).filter(|(_, episode)| episode.task.answer.is_some());
    for (subject, _) in single {
        let wrong = answers.iter().filter(|answer| !subject.is_right(answer)).take(30);
        subject.others = wrong.cloned().collect();
    }
}

/// A policy that says the lines of its script, one a turn, and then nothing.
fn scripted(chat: &ChatFormat, plans: &[EpisodePlan], scripts: Vec<Vec<String>>) -> Box<dyn Sampler> {
    let known: HashMap<_, Vec<String>> = plans.iter().map(|plan| session_of(&plan.id)).zip(scripts).collect();
    Box::new(ScriptedSampler::new(chat, move |cue: &Cue| {
        let line = known.get(&cue.session).and_then(|lines| lines.get(cue.turns.len()));
        Reply::Say(line.cloned().unwrap_or_default())
    }))
}

impl Target for WorldTarget {
    fn name(&self) -> String {
        self.parts.recipe.name.clone()
    }

    fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    fn pay(&mut self, attempts: &[Attempt]) -> Result<Vec<Payment>, AttackError> {
        let tasks: Vec<usize> = attempts.iter().map(|attempt| attempt.task).collect();
        let scripts = attempts.iter().map(|attempt| self.lines(attempt)).collect();
        let played = self.play_with(&tasks, "attack", |plans| scripted(&self.chat, plans, scripts));
        Ok(played.into_iter().map(|(_, payment)| payment).collect())
    }

    fn play(&mut self, tasks: usize, seed: u64) -> Result<Vec<Played>, AttackError> {
        Ok(policies::play(self, tasks.min(self.plans.len()), seed))
    }
}
