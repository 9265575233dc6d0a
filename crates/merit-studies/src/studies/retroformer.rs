//! Retroformer: a writer of reflections learns from what they change for a frozen actor.

use crate::chooser::{Choice, Chooser};
use crate::linked::return_delta;
use crate::reflecting::{random_writer, reflect, taught_writer};
use crate::tabular::mean;
use crate::turns::advantages::Normalisation;
use crate::worlds::keys::{Hint, Task, Trial, Vaults};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who writes, and what a reflection earns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Writer {
    /// None: the actor tries again.
    None,
    /// Hints that are drawn.
    Random,
    /// The writer as it was taught.
    Frozen,
    /// Trained; a reflection earns the next return.
    NextReturn,
    /// Trained; it earns the next return less the one before.
    Delta,
    /// Trained; it earns that less what a trial without it changes.
    DeltaLessEmpty,
    /// Trained; several reflections on each failure, each judged against the others.
    DeltaInGroups,
}

/// Vaults with six keys, a frozen actor that obeys hints, a writer of hints. Only a failed trial is reflected on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retroformer {
    /// Who writes, and what a reflection earns.
    pub writer: Writer,
    /// The writer reads the trial of another task.
    pub shuffled: bool,
    /// Trials of a task.
    pub trials: usize,
    /// Reflections of an update.
    pub batch: usize,
    /// Reflections on one failure where they are judged in groups.
    pub group: usize,
    /// Learning rate of the policy.
    pub learning_rate: f64,
    /// Held-out tasks that are measured on.
    pub evaluation: usize,
}

impl Default for Retroformer {
    fn default() -> Self {
        Self {
            writer: Writer::DeltaLessEmpty,
            shuffled: false,
            trials: 4,
            batch: 64,
            group: 4,
            learning_rate: 0.3,
            evaluation: 1000,
        }
    }
}

impl Component for Retroformer {
    const ABOUT: About = About {
        name: "retroformer",
        summary: "A writer of hints learns by policy gradient from what they change for a frozen actor.",
        paper: "Retroformer: Retrospective Large Language Agents with Policy Gradient Optimization (2023)",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(
            self.trials >= 3,
            "trials",
            self.trials,
            "at least 3: success after the third is measured",
        )?;
        Refusal::unless(self.batch > 1, "batch", self.batch, "at least 2")?;
        Refusal::unless(self.group > 1, "group", self.group, "at least 2: they are compared")?;
        let rate = self.learning_rate;
        Refusal::unless(rate.is_finite() && rate > 0.0, "learning_rate", rate, "above 0")?;
        Refusal::unless(self.evaluation > 0, "evaluation", self.evaluation, "at least 1")?;
        let reads = !matches!(self.writer, Writer::None | Writer::Random);
        if self.shuffled && !reads {
            return Err(Refusal::new("`shuffled` means something only for a writer that reads trials"));
        }
        Ok(())
    }
}

/// Updates between two points of the curve, and reflections where the file sets no budget.
const EVERY: usize = 4;
const SAMPLES: f64 = 10_000.0;

/// A reflection and what it earned.
struct Sample {
    choice: Vec<Choice>,
    earned: f64,
}

impl Study for Retroformer {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let vaults = Vaults::draw(&mut seed.child("vaults", 0).stream());
        let taught = || taught_writer(&mut seed.child("taught", 0).stream());
        let mut writer = if self.writer == Writer::Random { random_writer() } else { taught() };
        let mut stream = seed.child("learning", 0).stream();
        self.measured(&vaults, &writer, seed, desk);
        let trained = !matches!(self.writer, Writer::None | Writer::Random | Writer::Frozen);
        let mut updates = 0;
        while trained && desk.left()? && desk.spent("samples") < desk.budget("samples").unwrap_or(SAMPLES) {
            self.learn(&vaults, &mut writer, &mut stream, desk);
            updates += 1;
            if updates % EVERY == 0 {
                self.measured(&vaults, &writer, seed, desk);
            }
        }
        let [third, last] = self.measured(&vaults, &writer, seed, desk);
        desk.measure("success_after_3", third);
        desk.measure("success", last);
        Ok(())
    }
}

impl Retroformer {
    /// The share of held-out tasks solved by the third trial, and by the last. The writer takes its likeliest hint.
    fn measured(&self, vaults: &Vaults, writer: &Chooser, seed: &Seed, desk: &mut Desk<'_>) -> [f64; 2] {
        let mut stream = seed.child("evaluation", 0).stream();
        let mut solved = [0.0; 2];
        for _ in 0..self.evaluation {
            let task = Task::draw(&mut stream);
            let mut hints = Vec::new();
            let greedy = self.writer != Writer::Random;
            for trial in 1..=self.trials {
                let shown = vaults.attempt(&task, &hints, &mut stream);
                if shown.opened {
                    solved[0] += f64::from(u8::from(trial <= 3));
                    solved[1] += 1.0;
                    break;
                }
                if self.writer != Writer::None {
                    let read = self.read(vaults, shown, &mut stream);
                    hints.push(reflect(writer, &read, greedy, &mut stream).0);
                }
            }
        }
        let shares = solved.map(|solved| solved / self.evaluation as f64);
        desk.point("success_after_3", shares[0]);
        shares
    }

    /// What the writer reads: the trial, or a failed one of another task.
    fn read(&self, vaults: &Vaults, shown: Trial, stream: &mut Stream) -> Trial {
        if !self.shuffled {
            return shown;
        }
        let other = |_| vaults.attempt(&Task::draw(stream), &[], stream);
        (0..100).map(other).find(|trial| !trial.opened).unwrap_or(shown)
    }

    /// One update on a batch of reflections.
    fn learn(&self, vaults: &Vaults, writer: &mut Chooser, stream: &mut Stream, desk: &mut Desk<'_>) {
        let mut batch: Vec<Sample> = Vec::new();
        while batch.len() < self.batch {
            self.play(vaults, writer, &mut batch, stream, desk);
        }
        batch.truncate(self.batch);
        desk.spend("samples", batch.len() as f64);
        desk.spend("updates", 1.0);
        // A constant baseline for every arm: the mean of the batch.
        let earned: Vec<Vec<f64>> = batch.iter().map(|sample| vec![sample.earned]).collect();
        let advantages = Normalisation::Joint.advantages(&earned, &[1.0]);
        let paths: Vec<(&[Choice], f64)> =
            batch.iter().zip(advantages).map(|(sample, a)| (sample.choice.as_slice(), a)).collect();
        writer.climb(&paths, None, self.learning_rate);
    }

    /// One training task, until it is solved or its trials are spent.
    fn play(
        &self,
        vaults: &Vaults,
        writer: &Chooser,
        batch: &mut Vec<Sample>,
        stream: &mut Stream,
        desk: &mut Desk<'_>,
    ) {
        let task = Task::draw(stream);
        let mut hints: Vec<Hint> = Vec::new();
        let mut shown = vaults.attempt(&task, &hints, stream);
        let mut played = 1.0;
        for _ in 1..self.trials {
            if shown.opened {
                break;
            }
            let read = self.read(vaults, shown, stream);
            let many = if self.writer == Writer::DeltaInGroups { self.group } else { 1 };
            let tried: Vec<(Hint, Choice, Trial)> = (0..many)
                .map(|_| {
                    let (hint, choice) = reflect(writer, &read, false, stream);
                    let with: Vec<Hint> = hints.iter().copied().chain([hint]).collect();
                    (hint, choice, vaults.attempt(&task, &with, stream))
                })
                .collect();
            played += many as f64;
            let empty = (self.writer == Writer::DeltaLessEmpty).then(|| {
                played += 1.0;
                vaults.attempt(&task, &hints, stream).gain
            });
            let group = mean(&tried.iter().map(|(_, _, next)| next.gain).collect::<Vec<_>>());
            let earned = |next: &Trial| match self.writer {
                Writer::NextReturn => next.gain,
                Writer::DeltaInGroups => next.gain - group,
                _ => return_delta(shown.gain, next.gain, empty),
            };
            batch.extend(
                tried
                    .iter()
                    .map(|(_, choice, next)| Sample { choice: vec![choice.clone()], earned: earned(next) }),
            );
            // The task goes on with the first of a group.
            let Some((hint, _, next)) = tried.into_iter().next() else { break };
            hints.push(hint);
            shown = next;
        }
        desk.spend("actor_trials", played);
    }
}
