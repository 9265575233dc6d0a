//! A reward as a target: attempts become recorded episodes and are scored.
//!
//! Every attempt is scored in a group of its own, beside the right moves and an agent that does nothing, so that rewards
//! which compare the members of a group have something to compare.

use super::episode::episode;
use crate::error::AttackError;
use crate::subject::{Attempt, Subject};
use crate::target::{Payment, Target};
use crate::tasks::{self, Given};
use merit_core::{Components, Episode, EpisodeId, Reported, Reward, ScoredEpisode, Task};
use merit_reward::{RewardState, ScoreContext, Scorer};
use merit_run::reward_file;
use std::path::Path;
use std::sync::Arc;

/// A reward and the tasks it is tried on.
pub struct RewardTarget {
    name: String,
    scorer: Scorer,
    tasks: Vec<Arc<Task>>,
    subjects: Vec<Subject>,
}

impl RewardTarget {
    /// A reward called `name`. `tasks` and `subjects` go together: what the scorer sees and what the attacker sees of each.
    pub fn new(name: impl Into<String>, scorer: Scorer, tasks: Vec<Given>) -> Self {
        let (tasks, subjects) = tasks.into_iter().unzip();
        Self { name: name.into(), scorer, tasks, subjects }
    }

    /// The reward whose TOML `text` stands in `file`, read against `components`. Without tasks, those beside the file (`tasks/NAME.jsonl`), else the
    /// sample tasks of the shipped reward of that name, else plain questions, if they fit.
    pub fn from_toml(
        file: &str,
        text: &str,
        given: Option<Vec<Given>>,
        components: &Components,
    ) -> Result<Self, AttackError> {
        let config = reward_file::parse_with(file, text, components)?;
        let scorer = Scorer::opened(&config)
            .map_err(|error| AttackError::Target { target: file.to_owned(), why: error.to_string() })?;
        let path = Path::new(file);
        let stem = path.file_stem().map_or_else(|| file.to_owned(), |s| s.to_string_lossy().into_owned());
        let beside = path.with_file_name("tasks").join(format!("{stem}.jsonl"));
        let tasks = match given {
            Some(tasks) => tasks,
            None if beside.is_file() => tasks::load(&beside, usize::MAX)?,
            None => match tasks::sample_of(&stem) {
                Some(sample) => sample?,
                None => return Self::of_scorer(stem, scorer, None),
            },
        };
        Ok(Self::new(stem, scorer, tasks))
    }

    /// A scorer that stands in no file. Without tasks, plain questions, if they fit.
    pub fn of_scorer(
        name: impl Into<String>,
        scorer: Scorer,
        given: Option<Vec<Given>>,
    ) -> Result<Self, AttackError> {
        match given {
            Some(tasks) => Ok(Self::new(name, scorer, tasks)),
            None => Self::new(name, scorer, tasks::general()).fitting(),
        }
    }

    /// Refuses tasks that were not chosen for this reward where it cannot score them.
    fn fitting(mut self) -> Result<Self, AttackError> {
        let right = self.subjects.iter().enumerate();
        let right = right.filter_map(|(task, s)| s.right_moves().map(|moves| Attempt { task, moves }));
        let right: Vec<Attempt> = right.collect();
        let payments = self.pay(&right)?;
        if payments.iter().any(|payment| payment.value().is_some_and(|value| value > 0.0)) {
            return Ok(self);
        }
        let why = match payments.first() {
            Some(Payment::Unscorable { why } | Payment::Broke { why }) => why.clone(),
            _ => "their right answers earn nothing".to_owned(),
        };
        let why =
            format!("the plain questions that come along do not fit it ({why}); give tasks with `--tasks`");
        Err(AttackError::Target { target: self.name, why })
    }

    /// The attempt, and who is in its group beside it.
    fn group(&self, at: usize, attempt: &Attempt) -> Result<Vec<Arc<Episode>>, AttackError> {
        let subject = &self.subjects[attempt.task];
        let task = attempt.task;
        let nothing = Attempt { task, moves: Vec::new() };
        let right = subject.right_moves().map(|moves| Attempt { task, moves });
        let members = [Some(attempt.clone()), right, Some(nothing)].into_iter().flatten();
        let record = |(member, attempt): (usize, Attempt)| {
            let (group, member) = (at as u32, member as u32);
            let id = EpisodeId { phase: "attack".into(), step: 0, group, member, branch: 0 };
            let reported = subject.reported.then(|| Reported {
                reward: f64::from(u8::from(subject.does_the_work(&attempt))),
                by: "the sample".to_owned(),
            });
            let episode = episode(id, &self.tasks[task], &subject.prompt, &attempt)?;
            Ok(Arc::new(Episode { reported, ..episode }))
        };
        members.enumerate().map(record).collect()
    }
}

impl Target for RewardTarget {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    fn pay(&mut self, attempts: &[Attempt]) -> Result<Vec<Payment>, AttackError> {
        let groups: Result<Vec<Vec<Arc<Episode>>>, AttackError> =
            attempts.iter().enumerate().map(|(at, attempt)| self.group(at, attempt)).collect();
        let episodes = groups?.concat();
        let scored = self.scorer.score_batch(&episodes, &ScoreContext::default(), &RewardState::default());
        Ok(scored.episodes.iter().filter(|s| s.episode.id.member == 0).map(payment).collect())
    }
}

/// What a scored episode earned. One that broke on the way is the target's failure, not the attempt's.
pub(crate) fn payment(scored: &ScoredEpisode) -> Payment {
    if let merit_core::End::Failed { fault } = &scored.episode.end {
        return Payment::Broke { why: format!("{:?}: {}", fault.boundary, fault.message) };
    }
    match scored.score.as_ref().map(|score| (&score.reward, score.solved)) {
        Some((Reward::Value { value }, solved)) => Payment::Reward { value: *value, solved },
        Some((Reward::Unscorable { why }, _)) => Payment::Unscorable { why: why.clone() },
        Some((Reward::GraderFailed { why }, _)) => Payment::Broke { why: why.clone() },
        None => Payment::Broke { why: "it was not scored".into() },
    }
}
