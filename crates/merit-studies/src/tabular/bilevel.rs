//! Bi-level learning of a reward: the policy climbs a blended reward, the blend climbs the true return that the policy reaches,
//! by the implicit function theorem (BARFI, Gupta et al. 2023).
//!
//! Inner fixed point `Delta(theta, phi, v) = 0`, `Delta = E_D[sum_t psi_t sum_{j>=t} gamma_v^(j−t) (r_phi(j) − lambda log pi(j))]`,
//! `psi = grad_theta log pi`. Outer: `dJ/dphi = u · dDelta/dphi` with `u = g (−H)^-1`, `g = dJ/dtheta`, `H = dDelta/dtheta`.

use super::SoftmaxPolicy;

/// Old data may hold actions that the policy has since given up; their surprise is bounded by this probability.
const RAREST: f64 = 1e-9;

/// One episode: state, action, true and heuristic reward of each step.
pub type Trace = Vec<Seen>;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    pub state: usize,
    pub action: usize,
    pub primary: f64,
    pub auxiliary: f64,
}

/// `r_phi(s, a) = phi1 + phi2 · r_p + phi3 · r_aux`, each by state and action, and the inner discount `sigmoid(v)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Blend {
    pub phi: [Vec<f64>; 3],
    pub v: f64,
}

impl Blend {
    /// The same weights everywhere.
    pub fn constant(places: usize, weights: [f64; 3], gamma: f64) -> Self {
        Self { phi: weights.map(|w| vec![w; places]), v: (gamma / (1.0 - gamma)).ln() }
    }

    pub fn gamma(&self) -> f64 {
        1.0 / (1.0 + (-self.v).exp())
    }

    /// What the blend pays for an episode in all, undiscounted.
    pub fn total(&self, actions: usize, trace: &Trace) -> f64 {
        trace.iter().map(|step| self.reward(step.state * actions + step.action, step)).sum()
    }

    fn reward(&self, at: usize, step: &Seen) -> f64 {
        self.phi[0][at] + self.phi[1][at] * step.primary + self.phi[2][at] * step.auxiliary
    }
}

/// The inner problem at one policy: data, blend and entropy weight.
#[derive(Debug)]
pub struct Inner<'a> {
    actions: usize,
    traces: &'a [&'a Trace],
    blend: &'a Blend,
    lambda: f64,
    /// Probabilities by state and action.
    policy: Vec<f64>,
}

impl<'a> Inner<'a> {
    pub fn new(policy: &SoftmaxPolicy, traces: &'a [&'a Trace], blend: &'a Blend, lambda: f64) -> Self {
        Self { actions: policy.actions, traces, blend, lambda, policy: policy.table() }
    }

    fn at(&self, step: &Seen) -> usize {
        step.state * self.actions + step.action
    }

    /// Adds `weight · psi` of a step.
    fn push(&self, to: &mut [f64], step: &Seen, weight: f64) {
        let row = step.state * self.actions..(step.state + 1) * self.actions;
        to[row.start + step.action] += weight;
        to[row.clone()].iter_mut().zip(&self.policy[row]).for_each(|(t, p)| *t -= weight * p);
    }

    /// `v · psi` of a step.
    fn along(&self, v: &[f64], step: &Seen) -> f64 {
        let row = step.state * self.actions..(step.state + 1) * self.actions;
        let mean: f64 = v[row.clone()].iter().zip(&self.policy[row.clone()]).map(|(v, p)| v * p).sum();
        v[row.start + step.action] - mean
    }

    /// Returns of the blended reward with entropy, from each step on.
    fn returns(&self, trace: &Trace) -> Vec<f64> {
        let gamma = self.blend.gamma();
        let mut after = vec![0.0; trace.len() + 1];
        for (t, step) in trace.iter().enumerate().rev() {
            let at = self.at(step);
            after[t] = self.blend.reward(at, step) - self.lambda * self.policy[at].max(RAREST).ln()
                + gamma * after[t + 1];
        }
        after
    }

    /// `Delta`, the mean over episodes.
    pub fn delta(&self) -> Vec<f64> {
        let mut gradient = vec![0.0; self.policy.len()];
        for trace in self.traces {
            let after = self.returns(trace);
            trace.iter().zip(&after).for_each(|(step, g)| self.push(&mut gradient, step, g / self.count()));
        }
        gradient
    }

    fn count(&self) -> f64 {
        self.traces.len().max(1) as f64
    }

    /// `v H`, exactly: the change of `psi` gives `−(diag p − p pᵀ) v · G` in each visited state, the entropy `−lambda psi e`, where
    /// `e_j = gamma e_{j−1} + v · psi_j`.
    pub fn times_hessian(&self, v: &[f64]) -> Vec<f64> {
        let gamma = self.blend.gamma();
        let mut out = vec![0.0; v.len()];
        for trace in self.traces {
            let after = self.returns(trace);
            let mut trail = 0.0;
            for (step, g) in trace.iter().zip(&after) {
                trail = gamma * trail + self.along(v, step);
                self.push(&mut out, step, -self.lambda * trail / self.count());
                let row = step.state * self.actions..(step.state + 1) * self.actions;
                let mean: f64 =
                    v[row.clone()].iter().zip(&self.policy[row.clone()]).map(|(v, p)| v * p).sum();
                row.for_each(|i| out[i] -= self.policy[i] * (v[i] - mean) * g / self.count());
            }
        }
        out
    }

    /// `u = g (−H)^-1` as `eta · sum_{k<=terms} g (I + eta H)^k`.
    pub fn neumann(&self, g: &[f64], terms: usize, eta: f64) -> Vec<f64> {
        let (mut term, mut sum) = (g.to_vec(), g.to_vec());
        for _ in 0..terms {
            let moved = self.times_hessian(&term);
            term.iter_mut().zip(&moved).for_each(|(t, m)| *t += eta * m);
            sum.iter_mut().zip(&term).for_each(|(s, t)| *s += t);
        }
        sum.iter_mut().for_each(|s| *s *= eta);
        sum
    }

    /// `u · dDelta/dphi` for the three parts, and `u · dDelta/dv`.
    pub fn outer(&self, u: &[f64]) -> ([Vec<f64>; 3], f64) {
        let gamma = self.blend.gamma();
        let mut phi = [0, 1, 2].map(|_| vec![0.0; u.len()]);
        let mut slope = 0.0;
        for trace in self.traces {
            let after = self.returns(trace);
            let mut trail = 0.0;
            for step in trace.iter() {
                trail = gamma * trail + self.along(u, step);
                let (at, weight) = (self.at(step), trail / self.count());
                phi[0][at] += weight;
                phi[1][at] += weight * step.primary;
                phi[2][at] += weight * step.auxiliary;
            }
            // dG_t/dgamma = G_{t+1} + gamma · dG_{t+1}/dgamma.
            let mut by_gamma = 0.0;
            for (t, step) in trace.iter().enumerate().rev() {
                by_gamma = after[t + 1] + gamma * by_gamma;
                slope += self.along(u, step) * by_gamma / self.count();
            }
        }
        (phi, slope * gamma * (1.0 - gamma))
    }
}
