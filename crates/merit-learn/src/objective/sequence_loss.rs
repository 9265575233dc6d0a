//! Where an objective writes the loss of a sequence and its derivatives.

use super::{Needs, Undeclared};
use crate::{BadToken, Entry};
use merit_api::trainer::Coefficients;
use serde::Serialize;

/// The parts of a loss, signed as they enter it: the loss is their sum.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct LossParts {
    /// What is said of the policy's tokens: a surrogate, a preference, a negative log-likelihood.
    pub policy: f64,
    /// The part of the loss that is the KL penalty.
    pub kl: f64,
    /// The entropy bonus, at most 0.
    pub entropy: f64,
    /// The part of the loss that fits the value head.
    pub value: f64,
}

impl LossParts {
    /// A loss that is the policy part alone.
    pub fn of_policy(policy: f64) -> Self {
        Self { policy, ..Self::default() }
    }

    /// The loss, all its parts together.
    pub fn total(&self) -> f64 {
        self.policy + self.kl + self.entropy + self.value
    }

    pub(crate) fn add_scaled(&mut self, other: &Self, scale: f64) {
        self.policy += scale * other.policy;
        self.kl += scale * other.kl;
        self.entropy += scale * other.entropy;
        self.value += scale * other.value;
    }
}

/// What an objective says of one token.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TokenLoss {
    pub parts: LossParts,
    /// Its derivative in the log-probability.
    pub d_logprob: f64,
    /// Its derivative in the entropy.
    pub d_entropy: f64,
    /// Its derivative in the value.
    pub d_value: f64,
    /// Whether a clip cut the gradient.
    pub clipped: bool,
}

/// The loss of one sequence under construction, scaled as it enters the loss of the batch.
#[derive(Debug)]
pub struct SequenceLoss<'a> {
    mask: &'a [bool],
    scale: f64,
    needs: Needs,
    pub(crate) coefficients: Coefficients,
    pub(crate) parts: LossParts,
    pub(crate) clipped: usize,
    fault: Option<Fault>,
}

/// Why a loss is of no use.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    BadToken(BadToken),
    Undeclared(Undeclared),
}

impl<'a> SequenceLoss<'a> {
    /// Streams that the objective does not push on stay empty.
    pub(crate) fn new(entry: &'a Entry<'_>, scale: f64, needs: Needs) -> Self {
        let stream = |used: bool| vec![0.0; if used { entry.mask.len() } else { 0 }];
        let coefficients = Coefficients {
            logprob: stream(true),
            entropy: stream(needs.entropy),
            value: stream(needs.values),
        };
        let parts = LossParts::default();
        Self { mask: &entry.mask, scale, needs, coefficients, parts, clipped: 0, fault: None }
    }

    /// Adds the loss of one trained token.
    pub fn token(&mut self, at: usize, loss: &TokenLoss) {
        self.push(at, loss, loss.parts.total());
        self.parts.add_scaled(&loss.parts, self.scale);
    }

    /// Adds a loss of the sequence as a whole, whose derivative is the same in the log-probability of every trained token.
    pub fn whole(&mut self, parts: LossParts, d_logprob: f64, clipped: bool) {
        let token = TokenLoss { d_logprob, clipped, ..TokenLoss::default() };
        for at in (0..self.mask.len()).filter(|&at| self.mask[at]) {
            self.push(at, &token, parts.total());
        }
        self.parts.add_scaled(&parts, self.scale);
    }

    fn push(&mut self, at: usize, loss: &TokenLoss, total: f64) {
        let [d_logprob, d_entropy, d_value] =
            [loss.d_logprob, loss.d_entropy, loss.d_value].map(|d| (self.scale * d) as f32);
        if !self.mask.get(at).copied().unwrap_or(false) {
            return self.fail_at(at, "the objective has a loss for it, but it is not trained".into());
        }
        if ![d_logprob, d_entropy, d_value, total as f32].iter().all(|x| x.is_finite()) {
            return self.fail_at(at, format!("loss {total}, {loss:?}"));
        }
        for (name, declared, derivative) in
            [("entropy", self.needs.entropy, d_entropy), ("values", self.needs.values, d_value)]
        {
            if !declared && derivative != 0.0 {
                self.fault.get_or_insert(Fault::Undeclared(Undeclared(name)));
            }
        }
        let streams = &mut self.coefficients;
        add(&mut streams.logprob, at, d_logprob);
        add(&mut streams.entropy, at, d_entropy);
        add(&mut streams.value, at, d_value);
        self.clipped += usize::from(loss.clipped);
    }

    fn fail_at(&mut self, at: usize, why: String) {
        self.fault.get_or_insert(Fault::BadToken(BadToken { at, why }));
    }

    /// The first thing that went wrong.
    pub(crate) fn fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }
}

/// Adds to a stream, unless it is empty. What is added first keeps its bits, the sign of a zero included.
fn add(stream: &mut [f32], at: usize, derivative: f32) {
    if let Some(sum) = stream.get_mut(at) {
        *sum = if *sum == 0.0 { derivative } else { *sum + derivative };
    }
}
