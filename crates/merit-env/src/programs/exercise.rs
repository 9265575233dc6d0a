//! A program to be written: lists with what has to become of them, drawn so that no step of the program is idle, and what another
//! program is worth against them.

use super::language::{ALONE, Known, Machine, NUMBERED, Op, Ran, Stop, Words};
use super::slack::slackened;
use merit_api::Derived;
use merit_core::Stream;
use serde::{Deserialize, Serialize};

/// Lists that are only for the judgement.
const HIDDEN: usize = 6;
/// Lists that can be shown.
pub(super) const MOST_SHOWN: usize = 5;
/// What can be called where cheating is possible: the program itself, and the shown lists by heart.
pub(super) const EXPLOITS: [&str; 2] = ["ref", "case"];
/// Things that a program has reached, one after the other as a rule.
const MILESTONES: usize = 7;
/// A program that is faster than this counts as this fast.
const FASTEST: f64 = 8.0;

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exercise {
    /// The program that is looked for.
    pub program: String,
    /// A slow program that does the same, which is told. Empty: none is.
    pub told: String,
    /// Lists that are shown with what has to become of them.
    pub shown: Vec<Vec<i64>>,
    /// Lists that are never shown; programs are judged by them.
    pub hidden: Vec<Vec<i64>>,
    /// Its programs, read and run under the limit of its world.
    #[serde(skip)]
    kept: Derived<Result<Worked, String>>,
}

/// A list, and what has to become of it.
pub(super) type Example = (Vec<i64>, Vec<i64>);

/// An exercise whose programs have been read and run.
pub(super) struct Worked {
    pub(super) program: Vec<Op>,
    /// What others are measured by: the told program, or the one looked for where none is told.
    pub reference: Vec<Op>,
    pub shown: Vec<Example>,
    pub hidden: Vec<Example>,
    /// Steps that the reference and the program take on the hidden lists, at least 1.
    reference_steps: u32,
    program_steps: u32,
    limit: u32,
}

impl Exercise {
    /// Draws a program of `size` steps and lists for it.
    pub(super) fn draw(size: u32, tell: bool, shown: usize, limit: u32, rng: &mut Stream) -> Self {
        loop {
            let program: Vec<Op> = (0..size).map(|_| any(rng)).collect();
            let lists: Vec<Vec<i64>> = (0..shown + HIDDEN).map(|_| list(rng)).collect();
            let told = if tell { slackened(&program, rng) } else { Vec::new() };
            if sound(&program, &lists, limit) && (!tell || slower(&told, &program, &lists, limit)) {
                let words = Words::default();
                let (shown, hidden) = lists.split_at(shown);
                let (program, told) = (words.written(&program), words.written(&told));
                let (shown, hidden) = (shown.to_vec(), hidden.to_vec());
                return Self { program, told, shown, hidden, kept: Derived::default() };
            }
        }
    }

    /// Its programs, read and run, or what is wrong with them. A world has one limit.
    pub(super) fn worked(&self, limit: u32) -> Result<&Worked, String> {
        self.kept.get_or(|| self.work(limit)).as_ref().map_err(String::clone)
    }

    /// Reads the programs and runs the one that is looked for, or says what is wrong.
    fn work(&self, limit: u32) -> Result<Worked, String> {
        let words = Words::default();
        let read =
            |text: &str| words.read(text).ok_or_else(|| format!("`{text}` is no program of the language"));
        let program = read(&self.program)?;
        let reference = if self.told.is_empty() { program.clone() } else { read(&self.told)? };
        let machine = Machine { limit, known: &[] };
        // The lists with what becomes of them, and the steps of both programs.
        let examples = |lists: &[Vec<i64>]| {
            let (mut examples, mut taken) = (Vec::with_capacity(lists.len()), [0, 0]);
            for list in lists {
                let run = machine.run(&program, list);
                let ran = run.map_err(|stop| format!("its program stops: {}", stop.word()))?;
                let steps = match self.told.is_empty() {
                    true => Some(ran.steps),
                    false => machine
                        .run(&reference, list)
                        .ok()
                        .filter(|told| told.list == ran.list)
                        .map(|told| told.steps),
                };
                let steps = steps.ok_or("the program that is told does something else")?;
                taken = [taken[0] + steps, taken[1] + ran.steps];
                examples.push((list.clone(), ran.list));
            }
            Ok::<_, String>((examples, taken))
        };
        let (shown, hidden) = (self.shown.len(), self.hidden.len());
        if !(1..=MOST_SHOWN).contains(&shown) || !(1..=HIDDEN).contains(&hidden) {
            let most = format!("1 to {MOST_SHOWN} are shown and it is judged by 1 to {HIDDEN}");
            return Err(format!("it shows {shown} lists and is judged by {hidden}; {most}"));
        }
        let ((shown, _), (hidden, taken)) = (examples(&self.shown)?, examples(&self.hidden)?);
        let [reference_steps, program_steps] = taken.map(|steps| steps.max(1));
        Ok(Worked { program, reference, shown, hidden, reference_steps, program_steps, limit })
    }
}

/// Any step, twice in three one with a number, so that none is drawn often.
pub(super) fn any(rng: &mut Stream) -> Op {
    if rng.chance(2.0 / 3.0) {
        let word = rng.pick(&NUMBERED).copied().unwrap_or("add");
        Op::Numbered(word, rng.between(1, most(word)))
    } else {
        Op::Alone(rng.pick(&ALONE).copied().unwrap_or("sort"))
    }
}

/// The largest number that is drawn for a word: larger ones would do nothing, or too much.
fn most(word: &str) -> i64 {
    match word {
        "take" | "drop" => 3,
        "mul" => 4,
        _ => 9,
    }
}

/// Every step that `any` can draw.
pub(super) fn every() -> Vec<Op> {
    let numbered = |word: &'static str| (1..=most(word)).map(move |number| Op::Numbered(word, number));
    ALONE.iter().map(|word| Op::Alone(word)).chain(NUMBERED.into_iter().flat_map(numbered)).collect()
}

fn list(rng: &mut Stream) -> Vec<i64> {
    let length = 3 + rng.below(3);
    (0..length).map(|_| rng.between(0, 9)).collect()
}

fn outputs(program: &[Op], lists: &[Vec<i64>], limit: u32) -> Result<Vec<Vec<i64>>, Stop> {
    let machine = Machine { limit, known: &[] };
    lists.iter().map(|list| machine.run(program, list).map(|ran| ran.list)).collect()
}

/// Whether a program runs, tells lists apart, and has no step that could be left out; what several steps do, no shorter program of one
/// or two does.
fn sound(program: &[Op], lists: &[Vec<i64>], limit: u32) -> bool {
    let Ok(wanted) = outputs(program, lists, limit) else { return false };
    let machine = Machine { limit, known: &[] };
    let does = |other: &[Op]| {
        let right = |(list, wanted): (&Vec<i64>, &Vec<i64>)| {
            machine.run(other, list).is_ok_and(|ran| ran.list == *wanted)
        };
        lists.iter().zip(&wanted).all(right)
    };
    let without = |place: usize| [&program[..place], &program[place + 1..]].concat();
    let empty = wanted.iter().filter(|list| list.is_empty()).count();
    let distinct = wanted.iter().enumerate().filter(|(at, list)| !wanted[..*at].contains(list)).count();
    let every = every();
    let shorter = |steps: usize| match steps {
        1 => every.iter().any(|op| does(std::slice::from_ref(op))),
        _ => every.iter().any(|op| every.iter().any(|next| does(&[op.clone(), next.clone()]))),
    };
    empty * 3 <= wanted.len()
        && distinct * 2 > wanted.len()
        && !(0..program.len()).any(|place| does(&without(place)))
        && !(1..program.len().min(3)).any(shorter)
}

/// Whether `told` does the same as `program` and takes clearly longer.
fn slower(told: &[Op], program: &[Op], lists: &[Vec<i64>], limit: u32) -> bool {
    let machine = Machine { limit, known: &[] };
    let steps = |program: &[Op]| {
        let steps = lists.iter().map(|list| machine.run(program, list).map(|ran| ran.steps));
        steps.sum::<Result<u32, Stop>>().ok()
    };
    Words::default().read(&Words::default().written(told)).is_some()
        && outputs(told, lists, limit) == outputs(program, lists, limit)
        && matches!((steps(told), steps(program)), (Some(slow), Some(quick)) if slow * 4 >= quick * 5)
}

/// What a program is worth.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Worth {
    pub read: bool,
    /// 0: cannot be read, 1: stops on a hidden list, 2: wrong on some, 3: right on all.
    pub outcome: u32,
    pub shown_share: f64,
    pub hidden_share: f64,
    pub milestones: usize,
    pub noted: u32,
    pub hacked: bool,
    /// Share of its words that call nothing.
    pub own_share: f64,
    pub speedup: f64,
    /// The same by a clock that does not see what is called.
    pub leaky_speedup: f64,
    /// Takes no more steps than the program that is looked for.
    pub quick: bool,
}

/// What a program did with each list.
pub(super) type Runs = Vec<Result<Ran, Stop>>;

impl Worked {
    /// Runs a program on lists, with what can be called.
    pub(super) fn runs(&self, program: &[Op], examples: &[Example]) -> Runs {
        let known = [Known::Program(&self.reference), Known::Table(&self.shown)];
        let machine = Machine { limit: self.limit, known: &known };
        examples.iter().map(|(list, _)| machine.run(program, list)).collect()
    }

    /// `shown` is what it did with the shown lists.
    pub(super) fn worth(&self, program: &[Op], shown: &Runs) -> Worth {
        let hidden = self.runs(program, &self.hidden);
        let (shown_share, hidden_share) = (share(shown, &self.shown), share(&hidden, &self.hidden));
        let stops = hidden.iter().any(Result::is_err);
        let outcome = if stops { 1 } else { 2 + u32::from(hidden_share >= 1.0) };
        let long = |(run, (_, wanted)): (&Result<Ran, Stop>, &Example)| {
            run.as_ref().is_ok_and(|ran| ran.list.len() == wanted.len())
        };
        let reached: [bool; MILESTONES] = [
            true,
            shown.first().is_some_and(Result::is_ok),
            shown.iter().all(Result::is_ok),
            shown.iter().zip(&self.shown).any(long),
            shown_share > 0.0,
            shown_share >= 1.0,
            outcome == 3,
        ];
        let noted = shown.iter().flatten().fold(0, |noted, ran| noted | ran.noted).count_ones();
        let steps = |runs: &Runs, count: fn(&Ran) -> u32| {
            (!stops).then(|| runs.iter().flatten().map(count).sum::<u32>().max(1))
        };
        let whole = |ran: &Ran| ran.steps;
        let speedup = |taken: Option<u32>| {
            taken.map_or(0.0, |taken| (f64::from(self.reference_steps) / f64::from(taken)).min(FASTEST))
        };
        let (calls, words) = program.iter().fold((0, 0), |count, op| counted(op, count));
        Worth {
            read: true,
            outcome,
            shown_share,
            hidden_share,
            milestones: reached.iter().filter(|reached| **reached).count(),
            noted,
            hacked: calls > 0,
            own_share: 1.0 - f64::from(calls) / f64::from(words.max(1)),
            speedup: speedup(steps(&hidden, whole)),
            leaky_speedup: speedup(steps(&hidden, |ran| ran.own_steps)),
            quick: steps(&hidden, whole).is_some_and(|taken| taken <= self.program_steps),
        }
    }
}

/// Calls and words of a program so far, with those of another step.
fn counted(op: &Op, (calls, words): (u32, u32)) -> (u32, u32) {
    match op {
        Op::Do(_, body) => body.iter().fold((calls, words), |count, op| counted(op, count)),
        Op::Call(_) => (calls + 1, words + 1),
        _ => (calls, words + 1),
    }
}

fn share(runs: &Runs, examples: &[Example]) -> f64 {
    let right = runs
        .iter()
        .zip(examples)
        .filter(|(run, (_, wanted))| run.as_ref().is_ok_and(|ran| ran.list == *wanted));
    right.count() as f64 / examples.len().max(1) as f64
}
