//! Policies that play without a thought: at random, or the same thing over and over.
//!
//! Each plays every task once and is judged by its mean: what is lucky on one task does not pay on many.

use super::dialect::policy_texts;
use super::{WorldTarget, said};
use crate::subject::Move;
use crate::target::Played;
use merit_core::{Seed, Stream};
use merit_model::Sampler;
use merit_rollout::{Cue, EpisodePlan, Reply, ScriptedSampler, session_of};
use std::collections::HashMap;

/// What a policy knows of the task it plays.
#[derive(Clone, Default)]
struct Known {
    prompt: String,
    /// Turns of the oracle on other tasks: lines of the dialect that were written for something else.
    lines: Vec<String>,
    /// The oracle's first turn, where it is not also its last; else nothing.
    first: String,
    call: String,
    /// An answer that says nothing.
    guess: String,
}

/// A policy: what it says next, given what was said and observed so far.
type Policy = fn(&Known, &Cue, &mut Stream) -> String;

const POLICIES: &[(&str, Policy)] = &[
    ("plays-random-bytes", random_bytes),
    ("plays-random-words", random_words),
    ("plays-random-lines", random_lines),
    ("plays-one-guess", |known, _, _| known.guess.clone()),
    ("plays-one-call", |known, _, _| known.call.clone()),
    ("plays-first-turn", |known, _, _| known.first.clone()),
    ("plays-copy", copy),
    ("plays-silence", |_, _, _| String::new()),
];

/// Every policy on the first `tasks` tasks.
pub(super) fn play(target: &WorldTarget, tasks: usize, seed: u64) -> Vec<Played> {
    let at: Vec<usize> = (0..tasks).collect();
    let known: Vec<Known> = at.iter().map(|&task| known(target, task)).collect();
    let seed = Seed::root(seed).child("policies", 0);
    let run = |(name, policy): &(&str, Policy)| {
        let played = target.play_with(&at, name, |plans| sampler(target, plans, &known, *policy, seed));
        let episodes = played.iter().map(|(episode, payment)| (said(episode), payment.clone())).collect();
        Played { policy: (*name).to_owned(), episodes }
    };
    POLICIES.iter().map(run).collect()
}

fn known(target: &WorldTarget, task: usize) -> Known {
    let others = target.oracle.iter().enumerate().filter(|(at, _)| *at != task);
    let lines = others.flat_map(|(_, episode)| policy_texts(episode).map(str::to_owned)).collect();
    let subject = &target.subjects[task];
    let dialect = &target.dialects[task];
    // Where the oracle answers at once, its first turn is the work itself.
    let mut own = policy_texts(&target.oracle[task]);
    let first = own.next().filter(|_| own.next().is_some()).unwrap_or_default().to_owned();
    // A zero is right in hardly any world; where it is, another number is as good.
    let guess = if subject.is_right("0") { "1" } else { "0" };
    let call = match subject.tools.first() {
        Some(tool) => dialect.word(&Move::call(tool, "1")),
        None => first.clone(),
    };
    let guess = dialect.word(&Move::Answer { text: guess.to_owned() });
    Known { prompt: subject.prompt.clone(), lines, first, call, guess }
}

fn sampler(
    target: &WorldTarget,
    plans: &[EpisodePlan],
    known: &[Known],
    policy: Policy,
    seed: Seed,
) -> Box<dyn Sampler> {
    let tasks: HashMap<_, (u64, Known)> = plans
        .iter()
        .zip(known)
        .enumerate()
        .map(|(at, (plan, known))| (session_of(&plan.id), (at as u64, known.clone())))
        .collect();
    Box::new(ScriptedSampler::new(&target.chat, move |cue: &Cue| {
        let Some((at, known)) = tasks.get(&cue.session) else {
            return Reply::Break("no such episode was planned".to_owned());
        };
        let mut stream = seed.child("task", *at).child("turn", cue.turns.len() as u64).stream();
        Reply::Say(policy(known, cue, &mut stream))
    }))
}

fn random_bytes(_: &Known, _: &Cue, stream: &mut Stream) -> String {
    let length = 1 + stream.below(24);
    let bytes: Vec<u8> = (0..length).map(|_| stream.below(256) as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Words of the prompt and of what was observed, in any order.
fn random_words(known: &Known, cue: &Cue, stream: &mut Stream) -> String {
    let observed = cue.turns.iter().flat_map(|turn| &turn.observed).map(|message| message.text.as_str());
    let words: Vec<&str> =
        std::iter::once(known.prompt.as_str()).chain(observed).flat_map(str::split_whitespace).collect();
    let count = 1 + stream.below(6);
    let pick = |_| words.get(stream.below(words.len() as u64) as usize).copied().unwrap_or("yes");
    (0..count).map(pick).collect::<Vec<_>>().join(" ")
}

/// Lines of the dialect, each with its numbers drawn anew.
fn random_lines(known: &Known, _: &Cue, stream: &mut Stream) -> String {
    let line = known.lines.get(stream.below(known.lines.len() as u64) as usize).unwrap_or(&known.first);
    let digit = |c: char| if c.is_ascii_digit() { char::from(b'0' + stream.below(10) as u8) } else { c };
    line.chars().map(digit).collect()
}

/// What was observed last, or the prompt.
fn copy(known: &Known, cue: &Cue, _: &mut Stream) -> String {
    let last = cue.turns.last().and_then(|turn| turn.observed.last());
    last.map_or_else(|| known.prompt.clone(), |message| message.text.clone())
}
