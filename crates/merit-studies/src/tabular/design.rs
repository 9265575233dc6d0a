//! Rewards designed by a teacher who knows the best policy: few paid states, the same best policy, and gaps between good and bad
//! actions that show at short horizons (Explicable Reward Design, Devidze et al. 2021, and its adaptive form).
//!
//! With `Q_h = sum_{k<=h} gamma^k P*^k R` and `gap_h(s, a) = Q_h(s, pi*(s)) − Q_h(s, a)`, every condition is linear in `R`. One
//! best policy is kept, the first in each state; other actions that were as good may become worse, never better.

use super::lp::{self, Row};
use super::{Mdp, mdp::Solution};

/// Two actions as good as this count as equal.
const TIE: f64 = 1e-9;

/// A teacher of one world.
#[derive(Debug, Clone)]
pub struct Teacher<'a> {
    mdp: &'a Mdp,
    pub optimum: Solution,
    /// The original reward.
    original: Vec<f64>,
    /// `pi*`.
    target: Vec<usize>,
    /// How much the best non-optimal action of each state loses; 0 where every action is optimal.
    gaps: Vec<f64>,
    /// Rewards stay in `[-most, most]`.
    most: f64,
    /// For each horizon, then without end, `gap(s, a)` as coefficients of `R`, by state and action.
    horizons: Vec<Vec<Vec<f64>>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// The paid states.
    pub states: Vec<usize>,
    /// By state and action.
    pub rewards: Vec<f64>,
    /// Mean hinge loss of the gaps over horizons and states; the informativeness is its negative.
    pub loss: f64,
}

impl<'a> Teacher<'a> {
    pub fn new(mdp: &'a Mdp, rewards: &[f64], most: f64, horizons: &[usize]) -> Self {
        let optimum = mdp.solve(rewards);
        let target: Vec<usize> = (0..mdp.states).map(|s| optimum.greedy(s, TIE)[0]).collect();
        let lost = |s: usize| {
            let best = optimum.values[s];
            let row = &optimum.q[s * mdp.actions..(s + 1) * mdp.actions];
            let worse = row.iter().map(|q| best - q).filter(|gap| *gap > TIE).fold(f64::INFINITY, f64::min);
            // A hair less, so that the original reward is feasible in spite of rounding.
            if worse.is_finite() && !mdp.terminal[s] { worse / (1.0 + 1e-5) } else { 0.0 }
        };
        let gaps = (0..mdp.states).map(lost).collect();
        let endless = (1e-13_f64.ln() / mdp.gamma.ln()).ceil() as usize;
        let all = horizons.iter().copied().chain([endless]);
        let horizons = all.map(|h| gap_coefficients(mdp, &target, h)).collect();
        Self { mdp, optimum, original: rewards.to_vec(), target, gaps, most, horizons }
    }

    /// The actions of `state` that the design must keep worse.
    fn worse(&self, state: usize) -> impl Iterator<Item = usize> + '_ {
        let row = state * self.mdp.actions;
        let lost = move |a: &usize| self.optimum.values[state] - self.optimum.q[row + a] > TIE;
        (0..self.mdp.actions).filter(lost)
    }

    /// The places of `R` that may be paid, when only `states` are.
    fn free(&self, states: &[usize]) -> Vec<usize> {
        let actions = self.mdp.actions;
        states.iter().flat_map(|&s| (0..actions).map(move |a| s * actions + a)).collect()
    }

    /// `gap_inf(s, a) >= d(s)` for worse actions and `>= 0` for others: the best policy stays.
    fn kept(&self, free: &[usize]) -> Vec<(Vec<f64>, f64)> {
        let endless = &self.horizons[self.horizons.len() - 1];
        let mut rows = Vec::new();
        for state in (0..self.mdp.states).filter(|&s| !self.mdp.terminal[s]) {
            let worse: Vec<usize> = self.worse(state).collect();
            for action in (0..self.mdp.actions).filter(|&a| a != self.target[state]) {
                let row = &endless[state * self.mdp.actions + action];
                let bound = if worse.contains(&action) { self.gaps[state] } else { 0.0 };
                rows.push((free.iter().map(|&i| row[i]).collect(), bound));
            }
        }
        rows
    }

    /// The most informative reward on `states`; `None` where none keeps the best policy.
    pub fn explicable(&self, states: &[usize]) -> Option<Design> {
        let free = self.free(states);
        let kept = self.kept(&free);
        let endless = &self.horizons[self.horizons.len() - 1];
        // Hinges max_a max(0, d(s) − gap_h(s, a)): a variable each, where `R` can move them at all.
        let (mut hinges, mut fixed) = (0, 0.0);
        let mut soft: Vec<(Vec<f64>, f64, usize)> = Vec::new();
        for gaps in &self.horizons[..self.horizons.len() - 1] {
            for state in (0..self.mdp.states).filter(|&s| self.gaps[s] > 0.0) {
                let worse = self.worse(state).map(|a| state * self.mdp.actions + a);
                // A gap that is already that without end is kept large enough by the other conditions.
                let open = worse.filter(|&i| free.iter().any(|&j| (gaps[i][j] - endless[i][j]).abs() > 1e-9));
                let rows: Vec<Vec<f64>> = open.map(|i| free.iter().map(|&j| gaps[i][j]).collect()).collect();
                let still = |row: &Vec<f64>| row.iter().all(|c| c.abs() < 1e-12);
                let base = if rows.iter().any(still) { self.gaps[state] } else { 0.0 };
                fixed += base;
                let moving: Vec<Vec<f64>> = rows.into_iter().filter(|row| !still(row)).collect();
                if !moving.is_empty() {
                    soft.extend(moving.into_iter().map(|row| (row, self.gaps[state] - base, hinges)));
                    hinges += 1;
                }
            }
        }
        // R = original + up − down, and a price on every change so small that it only breaks ties. The original reward meets the
        // conditions, so that x = 0 fails at the hinges alone.
        let n = free.len();
        let here: Vec<f64> = free.iter().map(|&i| self.original[i]).collect();
        let now = |row: &[f64]| row.iter().zip(&here).map(|(c, r)| c * r).sum::<f64>();
        let wide = |row: &[f64], hinge: Option<usize>| {
            let mut all: Vec<f64> = row.iter().copied().chain(row.iter().map(|c| -c)).collect();
            all.resize(2 * n + hinges, 0.0);
            hinge.into_iter().for_each(|h| all[2 * n + h] = 1.0);
            all
        };
        let mut rows = Vec::new();
        for (row, bound) in &kept {
            rows.push(Row { coefficients: wide(row, None), at_least: (bound - now(row)).min(0.0) });
        }
        for (row, bound, hinge) in &soft {
            rows.push(Row { coefficients: wide(row, Some(*hinge)), at_least: bound - now(row) });
        }
        for i in 0..2 * n {
            let mut coefficients = vec![0.0; 2 * n + hinges];
            coefficients[i] = -1.0;
            let room = if i < n { self.most - here[i] } else { self.most + here[i - n] };
            rows.push(Row { coefficients, at_least: -room });
        }
        let mut cost: Vec<f64> = (0..2 * n).map(tie_price).collect();
        cost.resize(2 * n + hinges, 1.0);
        let x = lp::minimise(&cost, &rows)?;
        let hinge_sum: f64 = x[2 * n..].iter().sum();
        let scale = (self.mdp.states * (self.horizons.len() - 1)) as f64;
        let rewards = self.spread(&free, |i| here[i] + x[i] - x[n + i]);
        Some(Design { states: states.to_vec(), rewards, loss: (fixed + hinge_sum) / scale })
    }

    /// Starts with `first` and adds, one by one, the state that informs most, until `size` are paid.
    pub fn grow(&self, first: &[usize], size: usize) -> Option<Design> {
        let mut best = self.explicable(first)?;
        while best.states.len() < size {
            let fresh = (0..self.mdp.states).filter(|s| !self.mdp.terminal[*s] && !best.states.contains(s));
            let grown = fresh.filter_map(|s| self.explicable(&[&best.states[..], &[s]].concat()));
            best = grown.min_by(|a, b| a.loss.total_cmp(&b.loss))?;
        }
        Some(best)
    }

    /// The reward that tells a learner with `policy` most in its next update, on `size` states:
    /// `I(R) = sum_s mu(s) sum_a pi(a|s) A*(s, a) (R(s, a) − sum_b pi(b|s) R(s, b))`, linear in `R`. Paid are `first` and the states
    /// with the largest share in `I`.
    pub fn adaptive(&self, policy: &[f64], start: &[f64], first: &[usize], size: usize) -> Option<Design> {
        let actions = self.mdp.actions;
        let visits = self.mdp.visits(policy, start)?;
        let mut tells = vec![0.0; policy.len()];
        for state in (0..self.mdp.states).filter(|&s| !self.mdp.terminal[s]) {
            let row = state * actions..(state + 1) * actions;
            let advantage = |i: usize| self.optimum.q[i] - self.optimum.values[state];
            let mean: f64 = row.clone().map(|i| policy[i] * advantage(i)).sum();
            row.for_each(|i| tells[i] = visits[state] * policy[i] * (advantage(i) - mean));
        }
        let share = |s: usize| tells[s * actions..(s + 1) * actions].iter().map(|v| v.abs()).sum::<f64>();
        let mut fresh: Vec<usize> =
            (0..self.mdp.states).filter(|s| !self.mdp.terminal[*s] && !first.contains(s)).collect();
        fresh.sort_by(|&a, &b| share(b).total_cmp(&share(a)).then(a.cmp(&b)));
        fresh.truncate(size.saturating_sub(first.len()));
        let states = [first, &fresh].concat();
        let free = self.free(&states);
        // x counts from the good end of each reward's range, so that costs are not negative.
        let sign: Vec<f64> = free.iter().map(|&i| if tells[i] > 0.0 { -1.0 } else { 1.0 }).collect();
        let cost: Vec<f64> = free.iter().enumerate().map(|(at, &i)| tells[i].abs() + tie_price(at)).collect();
        let mut rows: Vec<Row> = Vec::new();
        for (row, bound) in self.kept(&free) {
            let coefficients: Vec<f64> = row.iter().zip(&sign).map(|(c, s)| c * s).collect();
            let at_least = bound + self.most * coefficients.iter().sum::<f64>();
            rows.push(Row { coefficients, at_least });
        }
        for i in 0..free.len() {
            let coefficients = (0..free.len()).map(|j| if i == j { -1.0 } else { 0.0 }).collect();
            rows.push(Row { coefficients, at_least: -2.0 * self.most });
        }
        let x = lp::minimise(&cost, &rows)?;
        let rewards = self.spread(&free, |i| sign[i] * (x[i] - self.most));
        Some(Design { states, rewards, loss: 0.0 })
    }

    fn spread(&self, free: &[usize], value: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut rewards = vec![0.0; self.mdp.states * self.mdp.actions];
        free.iter().enumerate().for_each(|(i, &at)| rewards[at] = value(i));
        rewards
    }

    /// The share of states in which every best action under `rewards` is one of the original best.
    pub fn agreement(&self, rewards: &[f64]) -> f64 {
        let solved = self.mdp.solve(rewards);
        let moving: Vec<usize> = (0..self.mdp.states).filter(|&s| !self.mdp.terminal[s]).collect();
        let same = |s: usize| {
            let best = self.optimum.greedy(s, TIE);
            solved.greedy(s, TIE).iter().all(|a| best.contains(a))
        };
        moving.iter().filter(|&&s| same(s)).count() as f64 / moving.len() as f64
    }
}

/// A small price, a different one for each variable, so that few vertices tie.
fn tie_price(variable: usize) -> f64 {
    1e-7 * (1.0 + (variable as f64 * 0.618_033_988_75).fract())
}

/// `gap_h(s, a)` as coefficients of `R`, for every state and action.
fn gap_coefficients(mdp: &Mdp, target: &[usize], horizon: usize) -> Vec<Vec<f64>> {
    let n = mdp.states * mdp.actions;
    // After the first action only `R(s, pi*(s))` is met, so that a distribution over states is enough.
    let ahead = |i: usize| {
        let mut q = vec![0.0; n];
        q[i] = 1.0;
        let mut at = vec![0.0; mdp.states];
        mdp.outcomes[i].iter().for_each(|&(s, p)| at[s] += p * mdp.gamma);
        for _ in 0..horizon {
            let mut next = vec![0.0; mdp.states];
            for s in (0..mdp.states).filter(|&s| at[s] > 0.0 && !mdp.terminal[s]) {
                let j = s * mdp.actions + target[s];
                q[j] += at[s];
                mdp.outcomes[j].iter().for_each(|&(to, p)| next[to] += at[s] * p * mdp.gamma);
            }
            at = next;
            if at.iter().all(|p| *p < 1e-15) {
                break;
            }
        }
        q
    };
    let all: Vec<Vec<f64>> = (0..n).map(ahead).collect();
    let gap = |i: usize| {
        let state = i / mdp.actions;
        let good = &all[state * mdp.actions + target[state]];
        good.iter().zip(&all[i]).map(|(g, b)| g - b).collect()
    };
    (0..n).map(gap).collect()
}
