//! Embed-RL: a frozen embedder pays a reasoner for cues that set its item apart from the rest of the batch.

use crate::bag::info_nce;
use crate::chooser::{Choice, Chooser};
use crate::contrast::{Contrast, hardest};
use crate::cues::{FEATURES, Trace, agreements};
use crate::turns::advantages::Normalisation;
use crate::worlds::records::{Batch, Demonstrator, KINDS, Records, Text};
use crate::{Desk, Study, StudyError};
use merit_core::bag::{Bag, dot};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the reasoner is paid for after imitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CueReward {
    /// Nothing: it goes on imitating.
    None,
    /// Form alone: one cue or more, none twice, and an end.
    Format,
    /// The margin alone.
    Margin,
    /// `0.05 form + 0.8 · half of accuracy times margin + 0.2 · the margin where a judge picks the right item`.
    Full,
}

/// Queries and records in long noisy texts; a softmax policy names words of a text as cues, one after the other, and an embedder
/// fitted by InfoNCE on right cues looks for the record. Both sides write cues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbedRl {
    /// The reward that the cue is paid.
    pub reward: CueReward,
    /// Records of each of the three pools: to fit and learn with, to fit the second embedder with, and to be measured on.
    pub records: usize,
    /// Pairs of a batch, all of one task; also how many records a query is measured against.
    pub batch: usize,
    /// Traces of every text in a batch.
    pub rollouts: usize,
    /// Most cues of a trace; 0: none, and the embedder is fitted without any.
    pub cues: usize,
    /// Words of noise in a query, and in a record.
    pub noise: [usize; 2],
    /// The share of demonstrated cues that are of a wrong kind.
    pub wrong: f64,
    /// Updates of imitation before anything else.
    pub imitation: usize,
    /// Updates after it.
    pub updates: usize,
    /// Step size of the policy where it is paid.
    pub learning_rate: f64,
    /// Weight of the distance from the imitated policy.
    pub kl: f64,
    /// Updates of the embedder.
    pub fit: usize,
    /// Batches that are measured on.
    pub evaluation: usize,
}

impl Default for EmbedRl {
    fn default() -> Self {
        Self {
            reward: CueReward::Full,
            records: 400,
            batch: 32,
            rollouts: 4,
            cues: 6,
            noise: [12, 24],
            wrong: 0.4,
            imitation: 300,
            updates: 150,
            learning_rate: 3.0,
            kl: 0.01,
            fit: 600,
            evaluation: 20,
        }
    }
}

impl Component for EmbedRl {
    const ABOUT: About = About {
        name: "embed-rl",
        summary: "A frozen embedder pays a policy for cues that set an item apart from its batch.",
        paper: "Embed-RL: Reinforcement Learning for Reasoning-Driven Multimodal Embeddings (2026)",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.records > 1, "records", self.records, "at least 2")?;
        Refusal::unless(self.batch > 1, "batch", self.batch, "at least 2: a text is set apart from others")?;
        Refusal::unless(self.rollouts > 1, "rollouts", self.rollouts, "at least 2: groups are compared")?;
        Refusal::unless(self.cues <= KINDS, "cues", self.cues, "at most 12")?;
        Refusal::unless(self.evaluation > 0, "evaluation", self.evaluation, "at least 1")?;
        Refusal::unless((0.0..=0.5).contains(&self.wrong), "wrong", self.wrong, "between 0 and 0.5")?;
        let rate = self.learning_rate;
        Refusal::unless(rate.is_finite() && rate > 0.0, "learning_rate", rate, "above 0")?;
        Refusal::unless(self.kl.is_finite() && self.kl >= 0.0, "kl", self.kl, "at least 0")
    }
}

/// Rows of the embedder's table; its width and length of vectors; InfoNCE's temperature; its step size.
const ROWS: usize = 8192;
const WIDTH: usize = 24;
const TEMPERATURE: f64 = 0.1;
const FIT_RATE: f64 = 0.1;
/// Step size of imitation.
const IMITATION_RATE: f64 = 1.0;
/// Other items that the judge is shown.
const HARD: usize = 4;

/// What policies are measured with: the embedder that pays, one that was fitted anew, and records never met.
struct Bench {
    embedder: Bag,
    transfer: Bag,
    held: Vec<Batch>,
    seed: Seed,
}

/// What a policy is worth: Recall@1 of its likeliest cues by either embedder, and, of drawn ones, what `full` pays and how
/// many are well formed.
struct Found {
    recall: f64,
    transfer: f64,
    paid: f64,
    formed: f64,
}

impl Study for EmbedRl {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let pool = |at| Records::draw(self.records, self.noise, ROWS, &mut seed.child("pool", at).stream());
        let (train, second, held) = (pool(0), pool(1), pool(2));
        let mut stream = seed.child("held out", 0).stream();
        let bench = Bench {
            embedder: self.fitted(&train, &seed.child("embedder", 0), desk)?,
            transfer: self.fitted(&second, &seed.child("embedder", 1), desk)?,
            held: (0..self.evaluation).map(|_| held.batch(self.batch, &mut stream)).collect(),
            seed: seed.child("bench", 0),
        };
        let shown = Demonstrator::draw(self.wrong, &mut seed.child("demonstrator", 0).stream());
        let mut imitation = seed.child("imitation", 0).stream();
        let mut policy = Chooser::new(FEATURES);
        for _ in 0..if self.cues > 0 { self.imitation } else { 0 } {
            self.imitate(&mut policy, &train, &shown, &mut imitation);
            desk.left()?;
        }
        let start = policy.clone();
        let mut stream = seed.child("learning", 0).stream();
        let mut update = 0;
        while self.cues > 0 && update < self.updates && desk.left()? {
            if update % 20 == 0 {
                desk.point("recall", self.recall(&policy, &bench, &bench.embedder, true));
            }
            match self.reward {
                CueReward::None => self.imitate(&mut policy, &train, &shown, &mut imitation),
                _ => self.learn(&mut policy, &start, &bench.embedder, &train, &mut stream),
            }
            desk.spend("updates", 1.0);
            update += 1;
        }
        let (before, after) = (self.found(&start, &bench), self.found(&policy, &bench));
        desk.point("recall", after.recall);
        desk.measure("recall", after.recall);
        desk.measure("recall_sampled", self.recall(&policy, &bench, &bench.embedder, false));
        desk.measure("recall_transfer", after.transfer);
        desk.measure("paid", after.paid);
        desk.measure("formed", after.formed);
        desk.measure("start/recall", before.recall);
        desk.measure("start/recall_transfer", before.transfer);
        desk.measure("start/paid", before.paid);
        let gold = |text: &Text| text.asked[..self.cues.min(2)].to_vec();
        desk.measure("recall_gold", retrieved(&bench.embedder, &bench.held, gold));
        if after.paid > before.paid && after.transfer < before.transfer - 0.02 {
            desk.note("what the embedder pays rose while recall by an embedder fitted anew fell");
        }
        Ok(())
    }
}

impl EmbedRl {
    /// An embedder fitted to texts with the two cues that are asked for.
    fn fitted(&self, pool: &Records, seed: &Seed, desk: &Desk<'_>) -> Result<Bag, StudyError> {
        let mut bag = Bag::new(ROWS, WIDTH, WIDTH, &mut seed.child("start", 0).stream());
        let (mut stream, mut gradient) = (seed.child("batches", 0).stream(), bag.gradient());
        for _ in 0..self.fit {
            desk.left()?;
            let batch = pool.batch(self.batch, &mut stream);
            let gold = |text: &Text| text.with(&text.asked[..self.cues.min(2)]);
            let pairs: Vec<_> =
                batch.queries.iter().zip(&batch.records).map(|(q, r)| (gold(q), gold(r))).collect();
            info_nce(&bag, &pairs, TEMPERATURE, &mut gradient);
            bag.descend(&mut gradient, FIT_RATE);
        }
        Ok(bag)
    }

    fn imitate(&self, policy: &mut Chooser, pool: &Records, shown: &Demonstrator, stream: &mut Stream) {
        let batch = pool.batch(self.batch, stream);
        let texts = batch.queries.iter().chain(&batch.records);
        let traces: Vec<Trace> = texts.map(|text| Trace::of(text, shown.show(text, stream))).collect();
        let paths: Vec<(&[Choice], f64)> = traces.iter().map(|trace| (trace.path.as_slice(), 1.0)).collect();
        policy.climb(&paths, None, IMITATION_RATE);
    }

    /// One update of GRPO on both sides.
    fn learn(&self, policy: &mut Chooser, start: &Chooser, bag: &Bag, pool: &Records, stream: &mut Stream) {
        let batch = pool.batch(self.batch, stream);
        let traces = self.traces(policy, &batch, stream);
        let mut paths: Vec<(&[Choice], f64)> = Vec::new();
        for (traces, rewards) in traces.iter().zip(self.rewards(self.reward, bag, &batch, &traces)) {
            for (group, rewards) in traces.chunks(self.rollouts).zip(rewards.chunks(self.rollouts)) {
                let rewards: Vec<Vec<f64>> = rewards.iter().map(|reward| vec![*reward]).collect();
                let advantages = Normalisation::Joint.advantages(&rewards, &[1.0]);
                paths.extend(
                    group.iter().zip(advantages).map(|(t, advantage)| (t.path.as_slice(), advantage)),
                );
            }
        }
        policy.climb(&paths, Some((start, self.kl)), self.learning_rate);
    }

    /// Traces of the queries and of the records, each text's side by side.
    fn traces(&self, policy: &Chooser, batch: &Batch, stream: &mut Stream) -> [Vec<Trace>; 2] {
        [&batch.queries, &batch.records].map(|texts| {
            let each = texts.iter().flat_map(|text| std::iter::repeat_n(text, self.rollouts));
            each.map(|text| Trace::write(policy, text, self.cues, false, stream)).collect()
        })
    }

    /// What every trace is paid: it depends on all others of the batch.
    fn rewards(
        &self,
        reward: CueReward,
        bag: &Bag,
        batch: &Batch,
        traces: &[Vec<Trace>; 2],
    ) -> [Vec<f64>; 2] {
        let n = self.rollouts;
        let texts = [&batch.queries, &batch.records];
        let vectors: [Vec<Vec<f64>>; 2] = [0, 1].map(|side| {
            let embed = |(at, trace): (usize, &Trace)| bag.unit(&texts[side][at / n].with(&trace.cues));
            traces[side].iter().enumerate().map(embed).collect()
        });
        [0, 1].map(|side| {
            let other = 1 - side;
            let pay = |(at, trace): (usize, &Trace)| {
                let item = at / n;
                let similar: Vec<f64> = vectors[other].iter().map(|v| dot(&vectors[side][at], v)).collect();
                let found = Contrast::of(&similar, item * n..(item + 1) * n);
                let form = f64::from(u8::from(trace.formed()));
                let agree = |of: usize| {
                    agreements((&texts[side][item], trace), (&texts[other][of / n], &traces[other][of]))
                };
                match reward {
                    CueReward::None => 0.0,
                    CueReward::Format => form,
                    CueReward::Margin => found.margin,
                    CueReward::Full => {
                        // The judge picks the right item where one of its traces agrees more than every other it is shown.
                        let own = (item * n..(item + 1) * n).map(agree).max();
                        let rival = hardest(&similar, item, n, HARD).into_iter().map(agree).max();
                        let judged = if own > rival { found.margin } else { 0.0 };
                        0.05 * form + 0.8 * found.outcome() + 0.2 * judged
                    }
                }
            };
            traces[side].iter().enumerate().map(pay).collect()
        })
    }

    fn recall(&self, policy: &Chooser, bench: &Bench, bag: &Bag, greedy: bool) -> f64 {
        let mut stream = bench.seed.child("traces", u64::from(greedy)).stream();
        retrieved(bag, &bench.held, |text| Trace::write(policy, text, self.cues, greedy, &mut stream).cues)
    }

    fn found(&self, policy: &Chooser, bench: &Bench) -> Found {
        let mut stream = bench.seed.child("paid", 0).stream();
        let (mut paid, mut formed, mut all) = (0.0, 0.0, 0.0);
        for batch in &bench.held {
            let traces = self.traces(policy, batch, &mut stream);
            let rewards = self.rewards(CueReward::Full, &bench.embedder, batch, &traces);
            paid += rewards.iter().flatten().sum::<f64>();
            formed += traces.iter().flatten().filter(|trace| trace.formed()).count() as f64;
            all += traces.iter().map(Vec::len).sum::<usize>() as f64;
        }
        Found {
            recall: self.recall(policy, bench, &bench.embedder, true),
            transfer: self.recall(policy, bench, &bench.transfer, true),
            paid: paid / f64::max(all, 1.0),
            formed: formed / f64::max(all, 1.0),
        }
    }
}

/// Recall@1: the share of queries whose own record is nearer than every other of the batch.
fn retrieved(bag: &Bag, held: &[Batch], mut cues: impl FnMut(&Text) -> Vec<usize>) -> f64 {
    let (mut hits, mut all) = (0.0, 0.0);
    for batch in held {
        let mut embed = |texts: &[Text]| -> Vec<Vec<f64>> {
            texts.iter().map(|text| bag.unit(&text.with(&cues(text)))).collect()
        };
        let (queries, records) = (embed(&batch.queries), embed(&batch.records));
        for (at, query) in queries.iter().enumerate() {
            let similar: Vec<f64> = records.iter().map(|record| dot(query, record)).collect();
            hits += Contrast::of(&similar, at..at + 1).accuracy;
            all += 1.0;
        }
    }
    hits / f64::max(all, 1.0)
}
