//! Asking for evidence step by step, and learning from pairs of paths: the process reward of TeaRAG, and DPO with gradients by hand.

use crate::chooser::{Choice, Chooser};
use merit_core::{Seed, Stream};

/// How alike one step is to one piece of gold evidence: its sub-query, its context, its summary.
pub type Likeness = [f64; 3];

/// R = (1/S) Σ_e [max_t sim(e, sub-query_t) + max_t sim(e, context_t) + max_t sim(e, summary_t)] / 3 over S steps. A step has one
/// likeness for every piece of evidence. Reading the same again adds nothing above and costs below; no step at all earns nothing.
pub fn process_reward(steps: &[Vec<Likeness>]) -> f64 {
    let evidence = steps.iter().map(Vec::len).max().unwrap_or(0);
    let most = |e: usize, part: usize| {
        steps.iter().filter_map(|step| step.get(e)).map(|like| like[part]).fold(0.0, f64::max)
    };
    let sum: f64 = (0..evidence).map(|e| (0..3).map(|part| most(e, part)).sum::<f64>() / 3.0).sum();
    if steps.is_empty() { 0.0 } else { sum / steps.len() as f64 }
}

/// A question of so many hops, asked by sub-queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asking {
    /// The chance that a sub-query brings its evidence.
    pub brings: f64,
    /// The chance that an answer without all evidence is right.
    pub guess: f64,
    /// Steps after which learning ends in any case.
    pub most: usize,
}

/// What can be done at a step.
const NEXT: usize = 0;
const REPEAT: usize = 1;
// 2 asks for something that is no evidence.
const ANSWER: usize = 3;
const MALFORMED: usize = 4;
const ACTIONS: usize = 5;
/// The most hops of a question.
pub const HOPS: usize = 3;

/// One way through a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    pub choices: Vec<Choice>,
    /// Steps that asked for something.
    pub steps: usize,
    pub right: bool,
    pub well_formed: bool,
    pub process: f64,
}

impl Asking {
    /// Features of a policy that sees the hops of its question, how often it has asked, and whether the last answer brought evidence.
    pub fn features(&self) -> usize {
        HOPS * (self.most + 1) * 2 * ACTIONS
    }

    fn candidates(&self, hops: usize, asked: usize, brought: bool) -> Vec<Vec<usize>> {
        let state = ((hops - 1) * (self.most + 1) + asked) * 2 + usize::from(brought);
        (0..ACTIONS).map(|action| vec![state * ACTIONS + action]).collect()
    }

    /// A path; `act` chooses at every step.
    fn walk(
        &self,
        hops: usize,
        mut act: impl FnMut(Vec<Vec<usize>>, &State) -> Choice,
        stream: &mut Stream,
    ) -> Path {
        let mut state = State { hops, found: 0, brought: false };
        let (mut choices, mut log) = (Vec::new(), Vec::new());
        let (mut right, mut well_formed) = (false, true);
        while log.len() < self.most {
            let choice = act(self.candidates(hops, log.len(), state.brought), &state);
            let action = choice.chosen;
            choices.push(choice);
            match action {
                ANSWER => {
                    right = state.found == hops || stream.chance(self.guess);
                    break;
                }
                MALFORMED => {
                    // A reader that ignores the form finds the same answer.
                    well_formed = false;
                    right = state.found == hops;
                    break;
                }
                _ => log.push(self.step(&mut state, action, stream)),
            }
        }
        let process = process_reward(&log);
        Path { choices, steps: log.len(), right, well_formed, process }
    }

    /// Asks; how alike the step is to every piece of evidence.
    fn step(&self, state: &mut State, action: usize, stream: &mut Stream) -> Vec<Likeness> {
        let mut like = vec![[0.0; 3]; state.hops];
        let at = match action {
            NEXT if state.found < state.hops => Some(state.found),
            REPEAT => state.found.checked_sub(1),
            _ => None,
        };
        let brings = stream.chance(self.brings);
        state.brought = false;
        if let Some(at) = at {
            like[at] = [1.0, f64::from(u8::from(brings)), f64::from(u8::from(brings))];
            state.brought = brings;
            state.found += usize::from(brings && action == NEXT);
        }
        like
    }

    pub fn sample(&self, hops: usize, policy: &Chooser, stream: &mut Stream) -> Path {
        let mut own = Seed::root(stream.bits()).stream();
        self.walk(hops, |candidates, _| policy.choose(candidates, false, &mut own), stream)
    }

    /// A right path that asks the same again after this share of its steps.
    pub fn demonstrate(&self, hops: usize, redundant: f64, stream: &mut Stream) -> Path {
        let mut own = Seed::root(stream.bits()).stream();
        let act = |candidates: Vec<Vec<usize>>, state: &State| {
            let chosen = match state {
                state if state.brought && own.chance(redundant) => REPEAT,
                state if state.found == state.hops => ANSWER,
                _ => NEXT,
            };
            Choice { candidates, chosen }
        };
        self.walk(hops, act, stream)
    }
}

/// Where a path stands; the policy does not see how much was found.
struct State {
    hops: usize,
    found: usize,
    brought: bool,
}

/// ln p of the choices of a path. What was retrieved is no choice and is in no log-probability.
pub fn log_probability(policy: &Chooser, path: &Path) -> f64 {
    path.choices.iter().map(|c| policy.chances(&c.candidates)[c.chosen].max(1e-300).ln()).sum()
}

/// The gradient of −loss over one pair, loss = −ln σ(d) − λ ln p(chosen), d = β[(ln p − ln ref)(chosen) − (ln p − ln ref)(rejected)].
pub fn preference_gradient(
    policy: &Chooser,
    reference: &Chooser,
    (chosen, rejected): (&Path, &Path),
    (beta, lambda): (f64, f64),
    gradient: &mut [f64],
) {
    let gain = |path: &Path| log_probability(policy, path) - log_probability(reference, path);
    let d = beta * (gain(chosen) - gain(rejected));
    let pull = beta / (1.0 + d.exp());
    chosen.choices.iter().for_each(|choice| policy.push(gradient, choice, pull + lambda));
    rejected.choices.iter().for_each(|choice| policy.push(gradient, choice, -pull));
}
