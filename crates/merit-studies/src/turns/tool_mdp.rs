//! The tool-augmented decision process: layers of states, text actions and tools, at most `depth` tool calls an episode.
//!
//! A state is visited at most once, so that a stochastic policy is worth the same as a draw of deterministic ones. Values and
//! gradients are exact sums over the process. Rewards are tables of state and action.

use merit_core::Stream;

pub const LAYERS: usize = 5;
pub const WIDTH: usize = 4;
pub const STATES: usize = LAYERS * WIDTH;
pub const TEXTS: usize = 4;
pub const TOOLS: usize = 3;
pub const ACTIONS: usize = TEXTS + TOOLS;
/// Tool calls an episode may make.
pub const DEPTH: usize = 2;
const ROWS: usize = STATES * (DEPTH + 1);

/// One number for every state and action.
pub type Table = Vec<[f64; ACTIONS]>;

/// One row of numbers for every state and number of tool calls so far.
pub type Logits = Vec<[f64; ACTIONS]>;

/// The chances of the actions in every row.
pub type Policy = Vec<[f64; ACTIONS]>;

/// Logits of the policy that likes everything equally.
pub fn uniform() -> Logits {
    vec![[0.0; ACTIONS]; ROWS]
}

/// Logits with a lead for what a table pays.
pub fn leaning(table: &Table, lead: f64) -> Logits {
    (0..ROWS).map(|row| table[row / (DEPTH + 1)].map(|paid| lead * paid)).collect()
}

/// Where actions lead.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolMdp {
    start: [f64; WIDTH],
    /// `next[s][a]`: chances of the states of the next layer.
    next: Vec<[[f64; WIDTH]; ACTIONS]>,
}

/// One episode: rows and actions, turn by turn.
pub type Path = Vec<(usize, usize)>;

impl ToolMdp {
    /// With `coupling` 0 the next state does not depend on the action, with 1 it depends on nothing else.
    pub fn draw(coupling: f64, stream: &mut Stream) -> Self {
        let start = chances(stream);
        let next = (0..STATES)
            .map(|_| {
                let drift = chances(stream);
                std::array::from_fn(|_| {
                    let own = chances(stream);
                    std::array::from_fn(|j| (1.0 - coupling) * drift[j] + coupling * own[j])
                })
            })
            .collect();
        Self { start, next }
    }

    /// The chances of a first state.
    pub fn start(&self) -> &[f64; WIDTH] {
        &self.start
    }

    /// The expected return of a table of rewards.
    pub fn value(&self, reward: &Table, logits: &Logits) -> f64 {
        let pi = policy_of(logits);
        let values = self.backward(reward, |row, q| dot(&pi[row], q)).1;
        self.start.iter().enumerate().map(|(s, p)| p * values[s * (DEPTH + 1)]).sum()
    }

    /// The greatest expected return.
    pub fn optimum(&self, reward: &Table) -> f64 {
        let best =
            |row: usize, q: &[f64; ACTIONS]| q[..allowed(row)].iter().copied().fold(f64::MIN, f64::max);
        let values = self.backward(reward, best).1;
        self.start.iter().enumerate().map(|(s, p)| p * values[s * (DEPTH + 1)]).sum()
    }

    /// The gradient of [`ToolMdp::value`] by the logits: `visits(x) pi(a|x) (Q(x, a) − V(x))`.
    pub fn gradient(&self, reward: &Table, logits: &Logits) -> Logits {
        let pi = policy_of(logits);
        let (q, values) = self.backward(reward, |row, q| dot(&pi[row], q));
        let visits = self.visits(&pi);
        let slopes =
            |row: usize| std::array::from_fn(|a| visits[row] * pi[row][a] * (q[row][a] - values[row]));
        (0..ROWS).map(slopes).collect()
    }

    /// Plain ascent along the exact gradient.
    pub fn ascend(&self, reward: &Table, logits: &mut Logits, steps: usize, step: f64) {
        for _ in 0..steps {
            let gradient = self.gradient(reward, logits);
            add(logits, &gradient, step);
        }
    }

    fn backward(
        &self,
        reward: &Table,
        fold: impl Fn(usize, &[f64; ACTIONS]) -> f64,
    ) -> (Vec<[f64; ACTIONS]>, Vec<f64>) {
        let (mut q, mut values) = (vec![[0.0; ACTIONS]; ROWS], vec![0.0; ROWS]);
        for row in (0..ROWS).rev() {
            let (s, calls) = (row / (DEPTH + 1), row % (DEPTH + 1));
            for a in 0..allowed(row) {
                q[row][a] = reward[s][a];
                for (j, chance) in self.next[s][a].iter().enumerate() {
                    q[row][a] += next_row(s, calls, a, j).map_or(0.0, |next| chance * values[next]);
                }
            }
            values[row] = fold(row, &q[row]);
        }
        (q, values)
    }

    fn visits(&self, policy: &Policy) -> Vec<f64> {
        let mut visits = vec![0.0; ROWS];
        self.start.iter().enumerate().for_each(|(s, p)| visits[s * (DEPTH + 1)] = *p);
        for row in 0..ROWS {
            let (s, calls) = (row / (DEPTH + 1), row % (DEPTH + 1));
            for (a, pi) in policy[row].iter().enumerate().take(allowed(row)) {
                for (j, chance) in self.next[s][a].iter().enumerate() {
                    if let Some(next) = next_row(s, calls, a, j) {
                        visits[next] += visits[row] * pi * chance;
                    }
                }
            }
        }
        visits
    }

    /// One episode from a first state.
    pub fn roll_out(&self, policy: &Policy, first: usize, stream: &mut Stream) -> Path {
        let mut path = Vec::with_capacity(LAYERS);
        let mut row = Some(first * (DEPTH + 1));
        while let Some(at) = row {
            let a = pick(&policy[at], stream);
            path.push((at, a));
            let (s, calls) = (at / (DEPTH + 1), at % (DEPTH + 1));
            row = next_row(s, calls, a, pick(&self.next[s][a], stream));
        }
        path
    }
}

/// What a path earns of a table, over the horizon.
pub fn earned(path: &Path, table: &Table) -> f64 {
    path.iter().map(|(row, a)| table[row / (DEPTH + 1)][*a]).sum::<f64>() / LAYERS as f64
}

/// Adds `advantage` times the gradient of the path's log-probability.
pub fn add_score(gradient: &mut Logits, policy: &Policy, path: &Path, advantage: f64) {
    for &(row, a) in path {
        gradient[row].iter_mut().zip(&policy[row]).for_each(|(g, p)| *g -= advantage * p);
        gradient[row][a] += advantage;
    }
}

/// `to += scale * by`.
pub fn add(to: &mut Logits, by: &Logits, scale: f64) {
    for (to, by) in to.iter_mut().zip(by) {
        to.iter_mut().zip(by).for_each(|(to, by)| *to += scale * by);
    }
}

pub fn norm2(logits: &Logits) -> f64 {
    logits.iter().flatten().map(|x| x * x).sum()
}

/// KL divergence between the two as distributions over deterministic policies: the sum over all rows.
pub fn divergence(of: &Logits, from: &Logits) -> f64 {
    let row = |row: usize| -> f64 {
        let (p, q) = (policy(of, row), policy(from, row));
        p.iter().zip(&q).filter(|(p, _)| **p > 0.0).map(|(p, q)| p * (p / q).ln()).sum()
    };
    (0..ROWS).map(row).sum()
}

/// The softmax of every row.
pub fn policy_of(logits: &Logits) -> Policy {
    (0..ROWS).map(|row| policy(logits, row)).collect()
}

/// The softmax over what is allowed in a row: no tool after the last call.
fn policy(logits: &Logits, row: usize) -> [f64; ACTIONS] {
    let allowed = allowed(row);
    let top = logits[row][..allowed].iter().copied().fold(f64::MIN, f64::max);
    let mut pi = [0.0; ACTIONS];
    for a in 0..allowed {
        pi[a] = (logits[row][a] - top).exp();
    }
    let sum: f64 = pi.iter().sum();
    pi.map(|p| p / sum)
}

fn allowed(row: usize) -> usize {
    if row % (DEPTH + 1) == DEPTH { TEXTS } else { ACTIONS }
}

fn next_row(s: usize, calls: usize, action: usize, to: usize) -> Option<usize> {
    let layer = s / WIDTH + 1;
    let calls = calls + usize::from(action >= TEXTS);
    (layer < LAYERS).then_some((layer * WIDTH + to) * (DEPTH + 1) + calls)
}

fn chances(stream: &mut Stream) -> [f64; WIDTH] {
    let raw: [f64; WIDTH] = std::array::from_fn(|_| 0.05 + stream.unit());
    let sum: f64 = raw.iter().sum();
    raw.map(|p| p / sum)
}

/// An index drawn by its chance.
pub fn pick(chances: &[f64], stream: &mut Stream) -> usize {
    let mut left = stream.unit();
    for (at, chance) in chances.iter().enumerate() {
        left -= chance;
        if left < 0.0 {
            return at;
        }
    }
    chances.iter().rposition(|chance| *chance > 0.0).unwrap_or(0)
}

fn dot(a: &[f64; ACTIONS], b: &[f64; ACTIONS]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
