//! What a task of `sums` asks: a chain of operations on whole numbers, drawn from a seed and checked when read back.
//!
//! All kinds are chains: `347`, `*582`, `+91`. They differ in the numbers, in whether results are taken by a modulus, and in what
//! is asked: the value of the chain, or (countdown) any chain over the same numbers that has this value.

use super::{Sums, calc};
use merit_core::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Most links of a chain.
pub const MAX_LINKS: u32 = 4;
/// Chance that a link of a product after the first multiplication multiplies again; at most one does.
const SECOND_PRODUCT: f64 = 0.3;
const MAX_TARGET: i64 = 999;
/// Draws in vain after which a countdown is taken as it is.
const TRIES: usize = 64;

/// The kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A two-digit number and a digit without a carry: needs no tool.
    Trivial = 0,
    /// Nested products and sums of numbers with `digits` digits: cannot be computed in the head.
    Product = 1,
    /// Small numbers, every result by a modulus: can be computed by writing the steps.
    Mod = 2,
    /// A number to be made of given ones: many answers are right.
    Countdown = 3,
}

/// What a link does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Op {
    /// Adds.
    #[serde(rename = "+")]
    Plus,
    /// Subtracts.
    #[serde(rename = "-")]
    Minus,
    /// Multiplies.
    #[serde(rename = "*")]
    Times,
}

impl Op {
    pub(super) const EVERY: [Self; 3] = [Self::Plus, Self::Minus, Self::Times];

    #[allow(clippy::ptr_arg)] // serde calls it so.
    pub(super) fn is_every(ops: &Vec<Self>) -> bool {
        *ops == Self::EVERY
    }

    fn sign(self) -> char {
        match self {
            Self::Plus => '+',
            Self::Minus => '-',
            Self::Times => '*',
        }
    }

    /// The result; numbers that come from a file may be too large for one.
    fn apply(self, value: i64, by: i64) -> Option<i64> {
        match self {
            Self::Plus => value.checked_add(by),
            Self::Minus => value.checked_sub(by),
            Self::Times => value.checked_mul(by),
        }
    }
}

/// One operation of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub op: Op,
    pub by: i64,
}

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    pub kind: Kind,
    pub start: i64,
    /// From left to right; each works on the result of those before it.
    pub links: Vec<Link>,
    /// Every result is taken by this. Only for `mod`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modulus: Option<i64>,
}

/// One worked step: what a link does and what comes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Worked {
    pub(super) value: i64,
    pub(super) link: Link,
    /// Before the modulus.
    pub(super) raw: i64,
    pub(super) result: i64,
}

impl Problem {
    pub(super) fn draw(world: &Sums, kind: Kind, size: u32, rng: &mut Stream) -> Self {
        match kind {
            Kind::Trivial => Self::trivial(rng),
            Kind::Product => Self::product(world.digits, size, rng),
            Kind::Mod => Self::modular(world, size, rng),
            Kind::Countdown => Self::countdown(size, rng),
        }
    }

    /// Single digits alone have 55 different sums, too few to know the held-out ones without having learned them by heart; with a
    /// tens digit that stays as it is there are 405, whose ones are all seen in training.
    fn trivial(rng: &mut Stream) -> Self {
        let (tens, by) = (rng.between(1, 9), rng.between(1, 9));
        let links = vec![Link { op: Op::Plus, by }];
        Self { kind: Kind::Trivial, start: 10 * tens + rng.between(0, 9 - by), links, modulus: None }
    }

    /// At least one multiplication and at most two, so that no result has more than 16 digits.
    fn product(digits: u32, size: u32, rng: &mut Stream) -> Self {
        let number = |rng: &mut Stream| rng.between(10_i64.pow(digits - 1), 10_i64.pow(digits) - 1);
        let start = number(rng);
        let first = rng.below(u64::from(size)) as u32;
        let (mut links, mut value, mut again) = (Vec::new(), start, true);
        for at in 0..size {
            let by = number(rng);
            let second = at > first && again && rng.chance(SECOND_PRODUCT);
            again &= !second;
            let op = match (at == first || second, rng.chance(0.5)) {
                (true, _) => Op::Times,
                (false, true) if value >= by => Op::Minus,
                (false, _) => Op::Plus,
            };
            links.push(Link { op, by });
            value = op.apply(value, by).unwrap_or_default();
        }
        Self { kind: Kind::Product, start, links, modulus: None }
    }

    fn modular(world: &Sums, size: u32, rng: &mut Stream) -> Self {
        let modulus = rng.pick(&world.moduli).copied().unwrap_or(7);
        let start = rng.between(0, modulus - 1);
        let mut link = || {
            let op = rng.pick(&world.ops).copied().unwrap_or(Op::Plus);
            Link { op, by: rng.between(2.min(modulus - 1), modulus - 1) }
        };
        // One link more than the size: a single one leaves only a few hundred tasks.
        let links = (0..=size).map(|_| link()).collect();
        Self { kind: Kind::Mod, start, links, modulus: Some(modulus) }
    }

    /// Three numbers and more, whose chain makes a positive target.
    fn countdown(size: u32, rng: &mut Stream) -> Self {
        let draw = |_| {
            let start = rng.between(2, 25);
            let mut link =
                || Link { op: rng.pick(&Op::EVERY).copied().unwrap_or(Op::Plus), by: rng.between(2, 12) };
            let links = (0..=size).map(|_| link()).collect();
            Self { kind: Kind::Countdown, start, links, modulus: None }
        };
        let fits = |problem: &Self| {
            problem.steps().is_some_and(|steps| steps.iter().all(|s| (1..=MAX_TARGET).contains(&s.result)))
        };
        let plain = Link { op: Op::Plus, by: 2 };
        (0..TRIES).map(draw).find(fits).unwrap_or_else(|| Self {
            kind: Kind::Countdown,
            start: 2,
            links: vec![plain; size as usize + 1],
            modulus: None,
        })
    }

    /// Every link with its result; `None` where a number of a file is too large.
    pub(super) fn steps(&self) -> Option<Vec<Worked>> {
        let mut value = self.start;
        let worked = |&link: &Link| {
            let raw = link.op.apply(value, link.by)?;
            let result = self.modulus.map_or(Some(raw), |modulus| raw.checked_rem_euclid(modulus))?;
            let worked = Worked { value, link, raw, result };
            value = result;
            Some(worked)
        };
        self.links.iter().map(worked).collect()
    }

    /// The value of the chain.
    pub fn value(&self) -> i64 {
        self.steps().and_then(|steps| steps.last().map(|last| last.result)).unwrap_or(self.start)
    }

    /// The numbers in it, in order of size.
    pub fn numbers(&self) -> Vec<i64> {
        let mut numbers: Vec<i64> = self.links.iter().map(|link| link.by).chain([self.start]).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Whether this is a right answer.
    pub fn is_answer(&self, text: &str) -> bool {
        if self.kind != Kind::Countdown {
            return text.parse() == Ok(i128::from(self.value()));
        }
        let mut used: Vec<i64> = text
            .split(|c: char| !c.is_ascii_digit())
            .filter(|number| !number.is_empty())
            .map(|number| number.parse().unwrap_or(i64::MAX))
            .collect();
        used.sort_unstable();
        used == self.numbers() && calc::evaluate(text) == Ok(i128::from(self.value()))
    }

    /// What makes the task what it is. The order of what may be swapped does not, so `12*34` and `34*12` are in one split.
    pub(super) fn content(&self) -> String {
        if self.kind == Kind::Countdown {
            return format!("{:?} make {}", self.numbers(), self.value());
        }
        let (mut start, mut links) = (self.start, self.links.clone());
        for run in links.chunk_by_mut(|a, b| a.op == b.op) {
            run.sort_unstable();
        }
        // The first number belongs to the first run, where that adds or multiplies.
        if let Some(first) = links.first_mut().filter(|first| first.op != Op::Minus && first.by < start) {
            std::mem::swap(&mut start, &mut first.by);
            let op = first.op;
            let run = links.iter().take_while(|link| link.op == op).count();
            links[..run].sort_unstable();
        }
        format!("{} by {:?}", Self { start, links, ..self.clone() }.expression(), self.modulus)
    }

    /// The chain as an expression, with the parentheses that it needs.
    pub fn expression(&self) -> String {
        let mut text = self.start.to_string();
        let mut sum = false;
        for Link { op, by } in &self.links {
            if *op == Op::Times && sum {
                text = format!("({text})");
            }
            sum = *op != Op::Times;
            let _ = write!(text, "{}{by}", op.sign());
        }
        text
    }

    /// What the agent is asked. The shifted wording has the same words in another order, so that a tokenizer knows them.
    pub(super) fn question(&self, shifted: bool) -> String {
        let links =
            || self.links.iter().map(|link| format!(", {}{}", link.op.sign(), link.by)).collect::<String>();
        let numbers = || self.numbers().iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
        let (what, how) = match (self.kind, self.modulus) {
            (Kind::Countdown, _) => (format!("make {}", self.value()), format!(" with {}", numbers())),
            (_, Some(modulus)) => (format!("{}{}", self.start, links()), format!(" mod {modulus}")),
            _ => (self.expression(), String::new()),
        };
        if shifted { format!("{what}{how}: find?") } else { format!("find{how}: {what}.") }
    }

    /// What is wrong with a problem that comes from a file.
    pub(super) fn check(&self) -> Result<(), String> {
        let count = self.links.len();
        if !(1..=MAX_LINKS as usize + 1).contains(&count) {
            return Err(format!("it has {count} links; 1 to {} are possible", MAX_LINKS + 1));
        }
        if (self.kind == Kind::Mod) != self.modulus.is_some() || self.modulus.is_some_and(|by| by < 2) {
            return Err("a modulus of 2 or more belongs to the kind `mod`, and to no other".to_owned());
        }
        if self.links.iter().any(|link| link.by < 0) || self.start < 0 {
            return Err("its numbers must not be negative".to_owned());
        }
        let small = |step: &Worked| step.result.abs() < 10_i64.pow(17);
        match self.steps() {
            Some(steps) if steps.iter().all(small) => Ok(()),
            _ => Err("its results are too large".to_owned()),
        }
    }
}

impl Worked {
    /// The expression of the link alone: `405*21`.
    pub(super) fn expression(&self) -> String {
        format!("{}{}{}", self.value, self.link.op.sign(), self.link.by)
    }

    /// The step in one line: `405*21=8505`, by a modulus `3*6=18=4`.
    pub(super) fn line(&self) -> String {
        let reduced = if self.raw == self.result { String::new() } else { format!("={}", self.result) };
        format!("{}={}{reduced}", self.expression(), self.raw)
    }

    /// The step in many lines: a product digit by digit with a running sum, everything else as it is.
    pub(super) fn long(&self) -> Vec<String> {
        if self.link.op != Op::Times || self.link.by < 10 || self.raw != self.result {
            return vec![self.line()];
        }
        let (mut lines, mut total, mut place, mut rest) = (Vec::new(), 0, 1, self.link.by);
        while rest > 0 {
            let digit = rest % 10 * place;
            let part = self.value * digit;
            if digit > 0 {
                lines.push(format!("{}*{digit}={part}", self.value));
            }
            if total > 0 && digit > 0 {
                lines.push(format!("{total}+{part}={}", total + part));
            }
            (total, place, rest) = (total + part, place * 10, rest / 10);
        }
        lines
    }
}
