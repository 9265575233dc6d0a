//! From a policy to the episode it would record, so that a reward file can score it.
//!
//! Each step becomes a turn. How a step looks as a turn is a [`Dress`]: by default the action is a tool call of that name, made
//! in the state given as its input, that works and answers with the state it leads to. Arriving at a terminal state ends the
//! episode; running out of steps truncates it.

use super::policies::check_policy;
use super::{Policy, TabularError, TabularWorld};
use merit_core::*;
use std::sync::Arc;

/// One step of a trajectory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    /// Where it was taken.
    pub state: usize,
    /// What was done.
    pub action: usize,
    /// Where it led.
    pub to: usize,
    /// What the world paid.
    pub reward: f64,
    /// How likely the policy was to do it.
    pub probability: f64,
}

/// What a policy did.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trajectory {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Whether it came to a terminal state.
    pub ended: bool,
}

/// How a step looks as a turn: the action the policy wrote, and the calls that were made.
pub(crate) type Dress<'a> = &'a dyn Fn(&TabularWorld, &Step) -> (Action, Vec<CallRecord>);

/// What `policy` does from `start` in at most `max_steps` steps. Chance, where there is any, is drawn from `seed`.
pub(crate) fn roll_out(
    world: &TabularWorld,
    policy: &Policy,
    start: usize,
    max_steps: usize,
    seed: u64,
) -> Result<Trajectory, TabularError> {
    world.validate()?;
    check_policy(world, policy)?;
    if start >= world.states.len() {
        let (got, want) = (start, world.states.len());
        return Err(TabularError::Rows { table: "start", of: " as its number".into(), got, want });
    }
    let mut stream = Seed::root(seed).child("tabular", 0).stream();
    let (mut state, mut steps) = (start, Vec::new());
    while !world.terminal[state] && steps.len() < max_steps {
        let action = draw(&policy.0[state], &mut stream);
        let arrows = &world.transitions[state][action];
        let chances: Vec<f64> = arrows.iter().map(|arrow| arrow.probability).collect();
        let arrow = arrows[draw(&chances, &mut stream)];
        let probability = policy.0[state][action];
        steps.push(Step { state, action, to: arrow.to, reward: arrow.reward, probability });
        state = arrow.to;
    }
    Ok(Trajectory { steps, ended: world.terminal[state] })
}

/// A position, by its probability. Rounding never lets it fall on a position of probability 0.
fn draw(probabilities: &[f64], stream: &mut Stream) -> usize {
    let mut left = stream.unit();
    let mut chosen = 0;
    for (position, &p) in probabilities.iter().enumerate().filter(|(_, p)| **p > 0.0) {
        chosen = position;
        if left < p {
            break;
        }
        left -= p;
    }
    chosen
}

/// The episode that a trajectory would record on `task`, each step dressed as a turn.
pub(crate) fn episode(
    world: &TabularWorld,
    trajectory: &Trajectory,
    task: &Arc<Task>,
    dress: Option<Dress<'_>>,
) -> Episode {
    let mut turns = Vec::with_capacity(trajectory.steps.len());
    let mut transcript = Transcript::default();
    for (index, step) in trajectory.steps.iter().enumerate() {
        let (action, calls) = dress.map_or_else(|| as_call(world, step), |dress| dress(world, step));
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        turns.push(Turn::new(index, action).with_calls(calls));
        let segment = Segment {
            role: Role::Policy,
            provenance: Provenance::Synthetic,
            turn: index,
            tokens: vec![TokenId(0)],
            logprobs: vec![step.probability.ln() as f32],
            values: Vec::new(),
            policy_version: None,
            text: world.actions[step.action].clone(),
            known: Known::Full,
        };
        transcript.append(segment).expect("turns come in order, and every token has its log-probability");
    }
    let answered = matches!(turns.last(), Some(Turn { action: Action::Answer { .. }, .. }));
    let end = match (trajectory.ended, answered) {
        (true, true) => End::Answered,
        (true, false) => End::EnvironmentDone,
        (false, _) => End::Truncated { limit: Limit::Turns },
    };
    let steps = turns.len() as u64;
    Episode::new(
        EpisodeId { phase: "tabular".into(), step: 0, group: 0, member: 0, branch: 0 },
        Arc::clone(task),
        end,
    )
    .with_transcript(transcript)
    .with_turns(turns)
    .with_cost(Cost { policy_tokens: steps, env_steps: steps, ..Cost::default() })
}

fn as_call(world: &TabularWorld, step: &Step) -> (Action, Vec<CallRecord>) {
    let call = ToolCall { tool: world.actions[step.action].clone(), input: world.states[step.state].clone() };
    let output = world.states[step.to].clone();
    let record = CallRecord { call: call.clone(), end: CallEnd::Ok, output, seconds: None };
    (Action::Calls { calls: vec![call] }, vec![record])
}
