//! Plays a task of `sums` in one of five manners, as a script that is known before the first turn.
//!
//! In: the problem, the manner and the turns so far. Out: the next line of the script. Lines that were said on the way but are not
//! in the script, and what was answered to them, are passed over; the calculator is exact, so its answers are known.

use super::problem::{Op, Worked};
use super::{Kind, Problem, Sums, ToolChoice};
use merit_api::{Demonstration, Manner, line};
use merit_core::Seed;

pub(super) const MANNERS: &[Manner] = &[
    Manner::new("exact", "Calls the calculator where it needs to, one operation a call: right."),
    Manner::new("text", "Writes its steps and calls nothing: right for small numbers, a guess for products."),
    Manner::new("hasty", "Answers at once: a guess, but for trivial tasks."),
    Manner::new("clumsy", "Makes a mistake in its first call, reads the refusal and does it right."),
    Manner::new("verbose", "Writes products digit by digit and checks its steps, calls nothing: right."),
];

/// How often each bad manner is drawn where skill decides and an episode is not played right.
const HASTY_SHARE: f64 = 0.7;
/// Most optional steps of a scratchpad.
const MAX_NOTES: f64 = 8.0;

pub(super) fn next_line(world: &Sums, problem: &Problem, play: &Demonstration<'_>) -> Option<String> {
    let manner = play.manner.unwrap_or_else(|| drawn(play));
    let script = script(world, problem, manner, play.seed)?;
    let said = play
        .turns
        .iter()
        .fold(0, |at, turn| at + usize::from(script.get(at).is_some_and(|l| l == line(&turn.said))));
    script.get(said).or(script.last()).cloned()
}

fn drawn(play: &Demonstration<'_>) -> &'static str {
    if play.is_correct() {
        return "exact";
    }
    if play.seed.child("bad manner", 0).stream().chance(HASTY_SHARE) { "hasty" } else { "text" }
}

fn script(world: &Sums, problem: &Problem, manner: &str, seed: &Seed) -> Option<Vec<String>> {
    let steps = problem.steps()?;
    let last = steps.last()?.result;
    let calls = world.tool == ToolChoice::Calc && matches!(problem.kind, Kind::Product | Kind::Mod);
    let mut lines = Vec::new();
    let answer = match (manner, problem.kind) {
        (_, Kind::Trivial) => last,
        ("hasty", _) => guess(problem, last, &seed.child("guess", 0)),
        ("verbose", _) => {
            lines.extend(
                steps.iter().flat_map(Worked::long).flat_map(|l| vec![l; 1 + world.verbosity as usize]),
            );
            last
        }
        ("text", Kind::Product) => guessed_steps(problem, &mut lines, seed),
        ("exact" | "clumsy", Kind::Product | Kind::Mod) if calls => {
            notes(world, &steps, &mut lines, seed);
            let called = steps.iter().map(|step| call(problem, step));
            let mistake = (manner == "clumsy").then(|| mistake(&steps[0], seed));
            let calls = mistake.into_iter().chain(called).map(|call| format!("calc {call}"));
            lines = lines.into_iter().map(written).chain(calls).collect();
            return Some(with_answer(lines, last.to_string()));
        }
        // Without the tool a line cannot show how a product is computed, so it is only answered.
        ("exact" | "clumsy", Kind::Product) => {
            notes(world, &steps, &mut lines, seed);
            last
        }
        _ => {
            notes(world, &steps, &mut lines, seed);
            lines.extend(steps.iter().map(Worked::line));
            last
        }
    };
    let answer = match (problem.kind, manner) {
        (Kind::Countdown, "hasty") => {
            problem.numbers().iter().map(i64::to_string).collect::<Vec<_>>().join("+")
        }
        (Kind::Countdown, _) => problem.expression(),
        _ => answer.to_string(),
    };
    Some(with_answer(lines.into_iter().map(written).collect(), answer))
}

fn written(step: String) -> String {
    format!("step {step}")
}

fn with_answer(mut lines: Vec<String>, answer: String) -> Vec<String> {
    lines.push(format!("answer {answer}"));
    lines
}

fn call(problem: &Problem, step: &Worked) -> String {
    match problem.modulus {
        Some(modulus) => format!("mod({},{modulus})", step.expression()),
        None => step.expression(),
    }
}

/// A call that is refused: one of every type that a slip can make.
fn mistake(step: &Worked, seed: &Seed) -> String {
    let (expression, value, by) = (step.expression(), step.value, step.link.by);
    match seed.child("mistake", 0).stream().below(5) {
        0 => format!("{expression}*"),
        1 => format!("({expression}"),
        2 => format!("times({value},{by})"),
        3 => format!("mod({expression})"),
        _ => format!("{expression}/0"),
    }
}

/// Optional true steps that are not needed: a heavy-tailed number of them, P(n > k) = scratchpad / (scratchpad + k).
fn notes(world: &Sums, steps: &[Worked], lines: &mut Vec<String>, seed: &Seed) {
    if world.scratchpad == 0.0 {
        return;
    }
    let unit = seed.child("scratchpad", 0).stream().unit();
    let count = (world.scratchpad * (1.0 / unit.max(f64::EPSILON) - 1.0)).min(MAX_NOTES) as usize;
    let long: Vec<String> = steps.iter().flat_map(Worked::long).collect();
    lines.extend(long.into_iter().cycle().take(count));
}

/// Products that are guessed and sums of the guesses; gives what they come to.
fn guessed_steps(problem: &Problem, lines: &mut Vec<String>, seed: &Seed) -> i64 {
    let mut value = problem.start;
    for (at, link) in problem.links.iter().enumerate() {
        let alone = Problem { start: value, links: vec![*link], ..problem.clone() };
        let Some(worked) = alone.steps().and_then(|steps| steps.first().copied()) else { break };
        let result = if link.op == Op::Times {
            guess(problem, worked.result, &seed.child("guess", at as u64))
        } else {
            worked.result
        };
        lines.push(format!("{}={result}", worked.expression()));
        value = result;
    }
    value
}

/// What somebody says who has not computed it: for a product a number of the right length, first and last digit.
fn guess(problem: &Problem, right: i64, seed: &Seed) -> i64 {
    let mut rng = seed.stream();
    if let Some(modulus) = problem.modulus {
        return rng.between(0, modulus - 1);
    }
    let digits = right.abs().to_string();
    let middle = |(at, digit): (usize, char)| match at {
        0 => digit,
        at if at + 1 == digits.len() => digit,
        _ => char::from(b'0' + rng.below(10) as u8),
    };
    digits.chars().enumerate().map(middle).collect::<String>().parse().unwrap_or(right) * right.signum()
}
