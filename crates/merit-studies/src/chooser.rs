//! A softmax over candidates that are told by their features, learned by imitation, by group-relative REINFORCE or from pairs.

use crate::tabular::{argmax, draw, softmax};
use merit_core::Stream;

/// One decision: what could be chosen, each with the features that it has, and what was.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub candidates: Vec<Vec<usize>>,
    pub chosen: usize,
}

/// A weight for every feature; a candidate's preference is the sum over its features.
#[derive(Debug, Clone, PartialEq)]
pub struct Chooser {
    pub weights: Vec<f64>,
}

impl Chooser {
    pub fn new(features: usize) -> Self {
        Self { weights: vec![0.0; features] }
    }

    pub fn chances(&self, candidates: &[Vec<usize>]) -> Vec<f64> {
        let prefer = |features: &Vec<usize>| features.iter().map(|f| self.weights[*f]).sum::<f64>();
        softmax(&candidates.iter().map(prefer).collect::<Vec<_>>())
    }

    /// Draws by chance, or takes the likeliest, ties by lot.
    pub fn choose(&self, candidates: Vec<Vec<usize>>, greedy: bool, stream: &mut Stream) -> Choice {
        let chances = self.chances(&candidates);
        let chosen = if greedy { argmax(&chances, 1e-12, stream) } else { draw(&chances, stream) };
        Choice { candidates, chosen }
    }

    /// Adds `weight · grad ln p(chosen)` to `gradient`.
    pub fn push(&self, gradient: &mut [f64], choice: &Choice, weight: f64) {
        let chances = self.chances(&choice.candidates);
        for (at, (features, p)) in choice.candidates.iter().zip(chances).enumerate() {
            let slope = weight * (f64::from(u8::from(at == choice.chosen)) - p);
            features.iter().for_each(|f| gradient[*f] += slope);
        }
    }

    /// One step up the mean over paths of `advantage · ln p`, less `kl` times the distance from `reference`, estimated as
    /// `e^d − d − 1` with `d = ln p_reference − ln p` at every choice. Imitation is an advantage of 1 without a reference.
    pub fn climb(&mut self, paths: &[(&[Choice], f64)], reference: Option<(&Self, f64)>, rate: f64) {
        let mut gradient = vec![0.0; self.weights.len()];
        for (path, advantage) in paths {
            for choice in *path {
                let pull = reference.map_or(0.0, |(other, kl)| {
                    let p = |who: &Self| who.chances(&choice.candidates)[choice.chosen].max(1e-300);
                    kl * (p(other) / p(self) - 1.0)
                });
                self.push(&mut gradient, choice, (advantage + pull) / paths.len() as f64);
            }
        }
        self.weights.iter_mut().zip(gradient).for_each(|(weight, g)| *weight += rate * g);
    }

    /// `ln p` of a whole path.
    pub fn log_chance(&self, path: &[Choice]) -> f64 {
        path.iter().map(|choice| self.chances(&choice.candidates)[choice.chosen].max(1e-300).ln()).sum()
    }

    /// One step down the mean over pairs of `−ln σ(d)`, `d = beta · (ln π/ref of the better path − ln π/ref of the worse one)`: DPO, and
    /// TPO where paths have several choices. The rate is per `beta`, so that the first step is the same for every `beta`. Gives the loss
    /// before the step.
    pub fn prefer(
        &mut self,
        pairs: &[(&[Choice], &[Choice])],
        reference: &Self,
        beta: f64,
        rate: f64,
    ) -> f64 {
        let mut gradient = vec![0.0; self.weights.len()];
        let (mut loss, n) = (0.0, pairs.len().max(1) as f64);
        for (better, worse) in pairs {
            let gain = |path: &[Choice]| self.log_chance(path) - reference.log_chance(path);
            let pull = 1.0 / (1.0 + (beta * (gain(better) - gain(worse))).exp());
            loss -= (1.0 - pull).max(1e-300).ln() / n;
            better.iter().for_each(|choice| self.push(&mut gradient, choice, pull / n));
            worse.iter().for_each(|choice| self.push(&mut gradient, choice, -pull / n));
        }
        self.weights.iter_mut().zip(gradient).for_each(|(weight, g)| *weight += rate * g);
        loss
    }
}
