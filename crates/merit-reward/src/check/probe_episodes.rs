//! Made-up episodes: an agent that does nothing, one that tries and fails, one that is right.

use super::tree::Tree;
use merit_core::*;
use std::sync::Arc;

/// What an agent does in a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// The agent answers nothing and calls no tool.
    Idle,
    /// Something that looks like work and is none: a mere call, length, any JSON.
    Show,
    /// An honest try that fails.
    Fails,
    /// The right answer.
    Right,
}

/// An episode that is made up for the check.
pub(crate) struct Probe {
    pub(crate) manner: Manner,
    /// What it does, as warnings put it: `the right answer`.
    pub(crate) what: &'static str,
    pub(crate) episode: Episode,
}

/// A task that stands for any task, and one for each kind that the reward tells apart.
pub(crate) fn made_up_tasks(tree: &Tree<'_>) -> Vec<Arc<Task>> {
    let apart = tree.parts.iter().flat_map(|part| tree.told(part).tasks);
    std::iter::once(made_up_task()).chain(apart).map(Arc::new).collect()
}

/// A task that stands for any task.
pub(crate) fn made_up_task() -> Task {
    Task::new("probe", "probe").with_answer("42")
}

/// Every probe of a task. Without a right answer there is no probe that gives it.
pub(crate) fn probes(task: &Arc<Task>) -> Vec<Probe> {
    let say = |text: &str| Did::Act(Action::Say { text: text.to_owned() });
    let answer = |text: &str| Did::Act(Action::Answer { text: text.to_owned() });
    let wrong = || answer(&wrong_answer(task.answer.as_deref()));
    let cut = End::Truncated { limit: Limit::Turns };
    let mut made = vec![
        (Manner::Idle, "an episode without a turn", Vec::new(), End::EnvironmentDone),
        (Manner::Idle, "one empty answer", vec![answer("")], End::Answered),
        (Manner::Idle, "one empty message", vec![say("")], End::EnvironmentDone),
        (
            Manner::Idle,
            "three well-formed messages without content",
            vec![say("."), say("."), say(".")],
            End::EnvironmentDone,
        ),
        (Manner::Idle, "eight turns of waiting until the limit", (0..8).map(|_| say("…")).collect(), cut),
        (Manner::Show, "a call that works and no answer", vec![Did::Call(CallEnd::Ok)], End::EnvironmentDone),
        (
            Manner::Show,
            "eight calls that work and no answer",
            (0..8).map(|_| Did::Call(CallEnd::Ok)).collect(),
            End::EnvironmentDone,
        ),
        (
            Manner::Show,
            "a long answer that says nothing",
            vec![answer(&"and so on. ".repeat(400))],
            End::Answered,
        ),
        (Manner::Show, "the answer `{}`", vec![answer("{}")], End::Answered),
        (Manner::Show, "the answer `[]`", vec![answer("[]")], End::Answered),
        (
            Manner::Show,
            "any JSON as the answer",
            vec![answer("{\"answer\": null, \"result\": \"\"}")],
            End::Answered,
        ),
        (Manner::Fails, "a wrong answer", vec![wrong()], End::Answered),
        (
            Manner::Fails,
            "a call that works and a wrong answer",
            vec![Did::Call(CallEnd::Ok), wrong()],
            End::Answered,
        ),
        (
            Manner::Fails,
            "a refused call and a wrong answer",
            vec![Did::Call(CallEnd::Refused), wrong()],
            End::Answered,
        ),
    ];
    if let Some(right) = &task.answer {
        made.push((Manner::Right, "the right answer", vec![answer(right)], End::Answered));
        let called = vec![Did::Call(CallEnd::Ok), answer(right)];
        made.push((Manner::Right, "a call that works and the right answer", called, End::Answered));
    }
    let probe = |(member, (manner, what, did, end)): (usize, (Manner, &'static str, Vec<Did>, End))| Probe {
        manner,
        what,
        episode: episode(task, member, did, end),
    };
    made.into_iter().enumerate().map(probe).collect()
}

enum Did {
    Act(Action),
    Call(CallEnd),
}

/// Something that is not the answer, and a number where numbers are asked for.
fn wrong_answer(right: Option<&str>) -> String {
    match right.and_then(|right| right.trim().parse::<f64>().ok()) {
        Some(1.0) => "0".to_owned(),
        Some(_) => "1".to_owned(),
        None => format!("not {}", right.unwrap_or("this")),
    }
}

fn episode(task: &Arc<Task>, member: usize, did: Vec<Did>, end: End) -> Episode {
    /// Tokens of a turn; what an agent writes is never free.
    const TOKENS: usize = 8;
    let mut transcript = Transcript::default();
    let mut turns = Vec::with_capacity(did.len());
    for (index, did) in (0_u32..).zip(did) {
        let (action, calls) = match did {
            Did::Act(action) => (action, Vec::new()),
            Did::Call(end) => call(end),
        };
        let text = match &action {
            Action::Answer { text } | Action::Say { text } => text.clone(),
            _ => String::new(),
        };
        turns.push(Turn::new(index, action).with_calls(calls));
        let segment = Segment {
            role: Role::Policy,
            provenance: Provenance::Synthetic,
            turn: index,
            tokens: vec![TokenId(0); TOKENS],
            logprobs: vec![0.0; TOKENS],
            values: Vec::new(),
            policy_version: None,
            text,
            known: Known::Full,
        };
        transcript.append(segment).expect("turns come in order, and every token has its log-probability");
    }
    let calls: usize = turns.iter().map(|turn| turn.calls.len()).sum();
    let cost = Cost {
        policy_tokens: (TOKENS * turns.len()) as u64,
        env_steps: turns.len() as u64,
        tool_calls: calls as u64,
        ..Cost::default()
    };
    let member = u32::try_from(member).unwrap_or(u32::MAX);
    Episode::new(
        EpisodeId { phase: "probe".into(), step: 0, group: 0, member, branch: 0 },
        Arc::clone(task),
        end,
    )
    .with_transcript(transcript)
    .with_turns(turns)
    .with_cost(cost)
}

fn call(end: CallEnd) -> (Action, Vec<CallRecord>) {
    let call = ToolCall { tool: "tool".into(), input: "input".into() };
    let output = if end == CallEnd::Ok { "output" } else { "refused" };
    let record = CallRecord { call: call.clone(), end, output: output.into(), seconds: Some(0.0) };
    (Action::Calls { calls: vec![call] }, vec![record])
}
