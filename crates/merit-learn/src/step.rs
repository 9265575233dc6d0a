//! One optimiser step's worth of samples: from what the policy says now to the coefficients of its gradient.
//!
//! In: units of a batch. Out, for each unit and from its own numbers alone: `dL/dlogprob`, `dL/dentropy`, `dL/dvalue` per token
//! and the share of each sample in the statistics. Pure, so it may run on any thread; sums over samples are taken elsewhere, in
//! order.

use crate::objective::kl::Estimator;
use crate::objective::{Fault, Member, Recorded};
use crate::{Average, Batch, Entry, LossAgg, LossParts, Needs, Objective, SequenceLoss, Unit};
use merit_api::trainer::{Coefficients, SequenceOutputs};

/// Samples that are averaged together, and what the loss of each is scaled with.
pub(crate) struct Step<'a> {
    objective: &'a dyn Objective,
    needs: Needs,
    /// Positions in the batch, in its order.
    positions: Vec<usize>,
    entries: Vec<&'a Entry<'a>>,
    /// Places in `entries`.
    units: Vec<Vec<usize>>,
    /// The unit of each entry.
    unit_of: Vec<usize>,
    scales: Vec<f64>,
    pub(crate) mismatched: Option<Vec<f64>>,
}

/// A sample's share of the statistics: sums over its trained tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SampleStats {
    /// Number of tokens that were trained.
    pub tokens: usize,
    /// Its share of the loss.
    pub loss: LossParts,
    /// Tokens with a recorded log-probability.
    pub sampled: usize,
    /// Ratios of new to old probability.
    pub ratio: f64,
    /// Tokens whose gradient the clip cut.
    pub clipped: usize,
    /// k3 estimates of `KL(old || new)`.
    pub kl_old: f64,
    /// Tokens with a reference.
    pub referred: usize,
    /// k3 estimates of `KL(new || reference)`.
    pub kl_reference: f64,
    /// Sum of the entropies of the tokens.
    pub entropy: f64,
    /// The same of the policy's own tokens only.
    pub own_entropy: f64,
    /// Largest difference between new and recorded log-probability.
    pub gap: f64,
    /// Largest derivative in a log-probability.
    pub largest: f64,
}

/// A token whose loss is no number.
#[derive(Debug, Clone, PartialEq)]
pub struct BadToken {
    /// Position of the token in its sequence.
    pub at: usize,
    /// The numbers that went in.
    pub why: String,
}

/// What a step says of one sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Judged {
    pub(crate) coefficients: Coefficients,
    pub(crate) stats: SampleStats,
}

impl<'a> Step<'a> {
    /// The units of `batch` at the places `units`, averaged together.
    pub(crate) fn new(
        batch: &'a Batch<'a>,
        units: &[usize],
        objective: &'a dyn Objective,
        loss_agg: &dyn LossAgg,
    ) -> Self {
        let mut positions: Vec<usize> = units.iter().flat_map(|&unit| batch.units[unit].clone()).collect();
        positions.sort_unstable();
        let entries: Vec<&Entry<'_>> = positions.iter().map(|&at| &batch.entries[at]).collect();
        let place = |at: &usize| positions.binary_search(at).expect("positions are those of the units");
        let units: Vec<Vec<usize>> =
            units.iter().map(|&unit| batch.units[unit].iter().map(place).collect()).collect();
        let mut unit_of = vec![0; entries.len()];
        for (unit, members) in units.iter().enumerate() {
            members.iter().for_each(|&member| unit_of[member] = unit);
        }
        let scales = match objective.average() {
            Average::Tokens => sample_scales(&entries, loss_agg),
            Average::Units => {
                let weights = unit_weights(&entries, &units);
                let total: f64 = weights.iter().sum();
                unit_of.iter().map(|&unit| weights[unit] / total).collect()
            }
        };
        let needs = objective.needs();
        Self { objective, needs, positions, entries, units, unit_of, scales, mismatched: None }
    }

    /// The samples, in the order of the batch.
    pub(crate) fn entries(&self) -> &[&'a Entry<'a>] {
        &self.entries
    }

    /// Their positions in the batch.
    pub(crate) fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// Whether a unit has several members, so that what the policy says of all must be known before any has coefficients.
    pub(crate) fn is_coupled(&self) -> bool {
        self.units.iter().any(|unit| unit.len() > 1)
    }

    /// Coefficients and statistics of the only sample of a unit.
    pub(crate) fn judge_alone(&self, outputs: &SequenceOutputs<'_>) -> Result<Judged, (usize, Fault)> {
        let mut judged = self.judge(self.unit_of[outputs.index], |_| *outputs)?;
        Ok(judged.pop().map(|(_, judged)| judged).unwrap_or_default())
    }

    /// Coefficients and statistics of all samples, in their order.
    pub(crate) fn judge_all<'o>(
        &self,
        outputs: impl Fn(usize) -> SequenceOutputs<'o>,
    ) -> Result<Vec<Judged>, (usize, Fault)> {
        let mut all = vec![Judged::default(); self.entries.len()];
        for unit in 0..self.units.len() {
            for (member, judged) in self.judge(unit, &outputs)? {
                all[member] = judged;
            }
        }
        Ok(all)
    }

    /// What the objective says of one unit, member by member; an error names the entry to blame.
    fn judge<'o>(
        &self,
        unit: usize,
        outputs: impl Fn(usize) -> SequenceOutputs<'o>,
    ) -> Result<Vec<(usize, Judged)>, (usize, Fault)> {
        let places = &self.units[unit];
        let outputs: Vec<SequenceOutputs<'o>> = places.iter().map(|&at| outputs(at)).collect();
        let member = |(&at, outputs): (&usize, &SequenceOutputs<'o>)| -> Member<'_> {
            Member::new(Recorded::new(self.entries[at], self.needs), *outputs)
        };
        let unit = Unit::new(places.iter().zip(&outputs).map(member).collect(), self.mismatched.as_deref());
        let out = places.iter().map(|&at| SequenceLoss::new(self.entries[at], self.scales[at], self.needs));
        let mut out: Vec<SequenceLoss<'_>> = out.collect();
        self.objective
            .loss(&unit, &mut out)
            .map_err(|undeclared| (places[0], Fault::Undeclared(undeclared)))?;
        let judged = places.iter().zip(&outputs).zip(out).map(|((&at, outputs), mut loss)| {
            loss.fault().map_or(Ok(()), |fault| Err((at, fault)))?;
            Ok((at, self.judged(at, outputs, loss)))
        });
        judged.collect()
    }

    fn judged(&self, at: usize, outputs: &SequenceOutputs<'_>, loss: SequenceLoss<'_>) -> Judged {
        let entry = self.entries[at];
        let mut stats = SampleStats { loss: loss.parts, clipped: loss.clipped, ..SampleStats::default() };
        for at in (0..entry.mask.len()).filter(|&at| entry.mask[at]) {
            stats.add(entry, at, outputs, loss.coefficients.logprob[at]);
        }
        Judged { coefficients: loss.coefficients, stats }
    }
}

/// The scale of each entry: that of its sample, whose turns may be several entries.
fn sample_scales(entries: &[&Entry<'_>], loss_agg: &dyn LossAgg) -> Vec<f64> {
    let mut samples: Vec<(usize, f64)> = Vec::new();
    let mut place = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 && entries[at - 1].whole == entry.whole {
            samples.last_mut().expect("the first entry opens a sample").0 += entry.trained();
        } else {
            samples.push((entry.trained(), entry.weight));
        }
        place.push(samples.len() - 1);
    }
    let scales = loss_agg.scales(&samples);
    place.into_iter().map(|sample| scales[sample]).collect()
}

/// The mean weight of the samples of each unit.
fn unit_weights(entries: &[&Entry<'_>], units: &[Vec<usize>]) -> Vec<f64> {
    let mean = |unit: &Vec<usize>| unit.iter().map(|&at| entries[at].weight).sum::<f64>() / unit.len() as f64;
    units.iter().map(mean).collect()
}

impl SampleStats {
    fn add(&mut self, entry: &Entry<'_>, at: usize, outputs: &SequenceOutputs<'_>, derivative: f32) {
        let number = |stream: &[f32]| f64::from(stream[at]);
        let logprob = number(outputs.logprobs);
        self.tokens += 1;
        let entropy = outputs.entropy.get(at).map_or(0.0, |&entropy| f64::from(entropy));
        self.entropy += entropy;
        self.largest = self.largest.max(f64::from(derivative.abs()));
        if let Some(old) = entry.old_logprobs.map(number) {
            self.sampled += 1;
            self.own_entropy += entropy;
            self.ratio += (logprob - old).exp();
            self.kl_old += Estimator::K3.estimate(old, logprob);
            self.gap = self.gap.max((logprob - old).abs());
        }
        if let Some(reference) = entry.reference.as_deref().map(number) {
            self.referred += 1;
            self.kl_reference += Estimator::K3.estimate(logprob, reference);
        }
    }
}
