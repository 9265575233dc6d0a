//! How a table is worked on: right, in haste, after a mistake, with idle lines, or carelessly.

use super::super::ATTRIBUTES;
use super::op::{Aggregate, Column, Op};
use super::sheet::Sheet;
use super::work::Work;
use crate::script::next_line;
use merit_api::Demonstration;
use merit_core::Stream;

/// How often `careless` gets a line wrong.
const SLIPS: f64 = 0.3;

pub(super) fn line(sheet: &Sheet, play: &Demonstration<'_>) -> Option<String> {
    let mut rng = play.seed.child("table", 0).stream();
    let mut plan = sheet.plan();
    match play.manner.unwrap_or(if play.is_correct() { "exact" } else { "careless" }) {
        "hasty" => plan.retain(|op| !matches!(op, Op::Keep(..))),
        "clumsy" => {
            let at = rng.below(plan.len() as u64) as usize;
            plan.insert(at, mistake(sheet, &mut rng));
        }
        "slow" => plan = std::iter::once(Op::Fresh).chain(plan.into_iter().flat_map(|op| [op, op])).collect(),
        "careless" => plan.iter_mut().for_each(|op| {
            if rng.chance(SLIPS) {
                *op = slipped(sheet, *op, &mut rng);
            }
        }),
        _ => {}
    }
    next_line(&script(sheet, &plan), play)
}

/// The lines, and the answer that the last of them gives which gives one.
fn script(sheet: &Sheet, plan: &[Op]) -> Vec<String> {
    let mut work = Work::default();
    let mut answer = None;
    for op in plan {
        let said = sheet.run(&mut work, *op);
        match (op, said) {
            (Op::Rank(_), Ok(said)) => answer = Some(said),
            (Op::Compute(..), Ok(said)) if work.group.is_none() => answer = Some(said),
            _ => {}
        }
    }
    let lines = plan.iter().map(|op| op.said());
    lines.chain([format!("answer {}", answer.unwrap_or_else(|| "0".to_owned()))]).collect()
}

/// A line that fails.
fn mistake(sheet: &Sheet, rng: &mut Stream) -> Op {
    let absent = (0..ATTRIBUTES.len() as u8).find(|attribute| !sheet.words.contains(attribute));
    let words = Column::Words(sheet.question.group.or(absent).unwrap_or_default());
    match (rng.below(3), absent) {
        (0, Some(attribute)) => Op::Group(Column::Words(attribute)),
        (1, _) => Op::Group(Column::Numbers(sheet.question.column)),
        _ => Op::Compute(sheet.question.aggregate, words),
    }
}

/// Another line of the same kind.
fn slipped(sheet: &Sheet, op: Op, rng: &mut Stream) -> Op {
    let numbers: Vec<u8> =
        sheet.numbers.iter().copied().filter(|place| *place != sheet.question.column).collect();
    match op {
        Op::Keep(column, (attribute, value)) => {
            Op::Keep(column, (attribute, (value + 1 + rng.below(4) as u8) % 5))
        }
        Op::Group(_) => Op::Group(Column::Words(rng.pick(&sheet.words).copied().unwrap_or_default())),
        Op::Compute(aggregate, _) if rng.chance(0.5) && !numbers.is_empty() => {
            Op::Compute(aggregate, Column::Numbers(rng.pick(&numbers).copied().unwrap_or_default()))
        }
        Op::Compute(aggregate, column) => {
            let others: Vec<Aggregate> =
                Aggregate::ALL.into_iter().filter(|other| *other != aggregate).collect();
            Op::Compute(rng.pick(&others).copied().unwrap_or(aggregate), column)
        }
        Op::Rank(low) => Op::Rank(!low),
        Op::Fresh => Op::Fresh,
    }
}
