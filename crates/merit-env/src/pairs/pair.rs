//! Two answers that are the same or nearly: written otherwise by a true identity, or changed by a near miss.
//!
//! Four levels: forms of numbers (`3.20`, `2,7`), sums (`34*7`), quantities (`47 min`), expressions in x (`3*(x+4)`). Whether two are
//! the same is computed from their texts, so that a pair from a file cannot lie about it.

use super::tools::{UNITS, unit, value_at, whole};
use merit_core::{Stream, ToolCall};
use serde::{Deserialize, Serialize};

/// Longest side of a pair, in bytes.
const MAX_SIDE: usize = 24;
/// Two polynomials of a degree of at most `MAX_DEGREE` are the same where they agree at one point more.
const POINTS: std::ops::RangeInclusive<i64> = 2..=6;
const MAX_DEGREE: usize = 4;

/// A right answer and another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// 1 to 4.
    pub level: u32,
    /// The right answer.
    pub left: String,
    /// What is held against it.
    pub right: String,
}

/// What an answer means, at a level.
fn meaning(level: u32, text: &str) -> Option<Vec<i128>> {
    if text.len() > MAX_SIDE {
        return None;
    }
    match level {
        1 => {
            let mut parts: Vec<i128> = text.split(',').map(hundredths).collect::<Option<_>>()?;
            parts.sort_unstable();
            Some(parts)
        }
        2 => Some(vec![value_at(text, 0).filter(|_| !text.contains('x'))?]),
        3 => {
            let (amount, name) = text.split_once(' ')?;
            let (kind, of) = unit(name)?;
            Some(vec![kind as i128, i128::from(whole(amount)?) * i128::from(of)])
        }
        4 if is_polynomial(text) => POINTS.map(|x| value_at(text, x)).collect(),
        _ => None,
    }
}

/// Whether an expression is a polynomial in x of a degree that `POINTS` tell apart. Quotients and `mod` are none.
fn is_polynomial(text: &str) -> bool {
    let known = |c: char| c.is_ascii_digit() || matches!(c, 'x' | '+' | '-' | '*' | '(' | ')');
    text.chars().all(known) && text.matches('x').count() <= MAX_DEGREE
}

/// A decimal number in hundredths.
fn hundredths(text: &str) -> Option<i128> {
    let (ones, rest) = text.split_once('.').unwrap_or((text, "0"));
    let places = match rest.len() {
        1 => 10,
        2 => 1,
        _ => return None,
    };
    Some(i128::from(whole(ones)? * 100 + whole(rest)? * places))
}

impl Pair {
    /// Draws a pair of a level whose answers are the same, or not.
    pub fn draw(level: u32, same: bool, rng: &mut Stream) -> Self {
        let (left, right) = match level {
            1 => forms(same, rng),
            2 => sums(same, rng),
            3 => quantities(same, rng),
            _ => expressions(same, rng),
        };
        Self { level, left, right }
    }

    /// Both sides, as they are shown.
    pub fn text(&self) -> String {
        format!("{} or {}", self.left, self.right)
    }

    /// Whether the answers are the same. Absent: one of them is no answer of this level.
    pub fn same(&self) -> Option<bool> {
        Some(meaning(self.level, &self.left)? == meaning(self.level, &self.right)?)
    }

    /// Whether both sides have the same value where x is this, as a probe at one point sees it.
    pub(super) fn agrees_at(&self, x: i64) -> bool {
        if self.level != 4 {
            return self.same() == Some(true);
        }
        value_at(&self.left, x) == value_at(&self.right, x)
    }

    /// One side less the other.
    pub(super) fn difference(&self) -> String {
        format!("{}-({})", self.left, self.right)
    }

    /// Whether a call computes one of the sides, or their difference.
    pub(super) fn is_about(&self, call: &ToolCall) -> bool {
        let computed = match call.tool.as_str() {
            "eval" => call.input.split_once(" at ").map_or(call.input.as_str(), |(expression, _)| expression),
            _ => call.input.trim_end().rsplit_once(' ').map_or("", |(quantity, _)| quantity),
        };
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let sides = [&self.left, &self.right, &self.difference()].map(|side| bare(side));
        sides.contains(&bare(computed))
    }

    /// What a rule says that compares texts.
    pub(super) fn rule_exact(&self) -> bool {
        self.left == self.right
    }

    /// What a rule says that compares the numbers it can read, with x at 1, and knows no units and no lists.
    pub(super) fn rule_probe(&self) -> bool {
        let number = |side: &str| {
            let number = side.split(' ').next().unwrap_or_default();
            hundredths(number).or_else(|| value_at(number, 1).and_then(|value| value.checked_mul(100)))
        };
        number(&self.left).is_some_and(|left| number(&self.right) == Some(left))
    }
}

fn sign(rng: &mut Stream) -> i64 {
    if rng.chance(0.5) { 1 } else { -1 }
}

/// Numbers with and without a point, and lists in another order.
fn forms(same: bool, rng: &mut Stream) -> (String, String) {
    let (a, b) = (rng.between(2, 99), rng.between(1, 9));
    match (rng.below(4), same) {
        (0, true) => (format!("{a}"), format!("{a}")),
        (0, false) => (format!("{a}"), format!("{}", a + sign(rng))),
        (1, true) => (format!("{a}"), format!("{a}.0")),
        (1, false) => (format!("{a}"), format!("{}.{}", a / 10, a % 10)),
        (2, true) => (format!("{a}.{b}"), format!("{a}.{b}0")),
        (2, false) => (format!("{a}.{b}"), format!("{a}.0{b}")),
        (_, true) => (format!("{a},{b}"), format!("{b},{a}")),
        (_, false) => (format!("{a},{b}"), format!("{b},{}", a + sign(rng))),
    }
}

/// A product, with something added half of the time, and its value; or one that is off by little.
fn sums(same: bool, rng: &mut Stream) -> (String, String) {
    let (a, b, c) = (rng.between(12, 49), rng.between(3, 9), rng.between(11, 59));
    let (left, value) =
        if rng.chance(0.5) { (format!("{a}*{b}"), a * b) } else { (format!("{a}*{b}+{c}"), a * b + c) };
    let off = if same { 0 } else { sign(rng) * [1, 2, 10, 20][rng.below(4) as usize % 4] };
    (left, (value + off).to_string())
}

/// A quantity and the same in the next smaller unit; or with a wrong factor, a wrong number or a unit of another kind.
fn quantities(same: bool, rng: &mut Stream) -> (String, String) {
    let kind = rng.below(UNITS.len() as u64) as usize;
    let units = UNITS.get(kind).copied().unwrap_or_default();
    let at = rng.below(units.len().saturating_sub(1) as u64) as usize;
    let pick = |at: usize| units.get(at).copied().unwrap_or(("m", 1000));
    let ((small, of), (large, by)) = (pick(at), pick(at + 1));
    let amount = rng.between(2, 60);
    let value = amount * by / of;
    let left = format!("{amount} {large}");
    let right = match rng.below(4) {
        _ if same => format!("{value} {small}"),
        0 => format!("{} {small}", value * 10),
        1 => {
            let others = UNITS.get((kind + 1) % UNITS.len()).copied().unwrap_or_default();
            format!("{value} {}", rng.pick(others).map_or("m", |(name, _)| *name))
        }
        2 => format!("{} {small}", value + sign(rng) * 10),
        _ => format!("{} {small}", (amount + sign(rng)) * by / of),
    };
    (left, right)
}

/// A product with x in it and the same multiplied out; or a near miss, two in three of which agree at 0 or at 1.
fn expressions(same: bool, rng: &mut Stream) -> (String, String) {
    let (a, b) = (rng.between(2, 9), rng.between(1, 9));
    let (left, square, mut once, mut rest) = match rng.below(4) {
        0 => (format!("{a}*(x+{b})"), false, a, a * b),
        1 => (format!("x*(x+{b})"), true, b, 0),
        2 => (format!("(x+{a})*(x+{b})"), true, a + b, a * b),
        _ => (format!("(x+{a})*(x-{a})"), true, 0, -a * a),
    };
    if !same {
        let by = sign(rng);
        let (of_x, of_1) = [(0, by), (by, 0), (by, -by)][rng.below(3) as usize % 3];
        once += of_x;
        rest += of_1;
    }
    let x = match once.abs() {
        0 => String::new(),
        1 => "x".to_owned(),
        more => format!("{more}*x"),
    };
    let mut right = if square { "x*x".to_owned() } else { String::new() };
    for (term, negative) in [(x, once < 0), (rest.abs().to_string(), rest < 0)] {
        if !term.is_empty() && term != "0" {
            let plus = if right.is_empty() { "" } else { "+" };
            right.push_str(if negative { "-" } else { plus });
            right.push_str(&term);
        }
    }
    (left, right)
}
