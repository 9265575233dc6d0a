//! How programs are written: right, tried first, nearly right, as told, by chance, or by cheating.

use super::exercise::{EXPLOITS, Worked, any, every};
use super::language::{Op, Words};
use merit_api::Demonstration;
use merit_core::Stream;

pub(super) fn line(work: &Worked, exploits: bool, play: &Demonstration<'_>) -> String {
    let mut rng = play.seed.child("program", 0).stream();
    let manner = play.manner.unwrap_or(if play.is_correct() { "exact" } else { "near" });
    let words = Words::default();
    let right = words.written(&work.program);
    let first = play.turns.is_empty();
    match manner {
        "exact" => format!("give {right}"),
        "careful" => format!("{} {right}", if first { "run" } else { "give" }),
        "repair" if first => format!("run {}", words.written(&near(work, &mut rng))),
        "repair" => format!("give {right}"),
        "cheat" if exploits => format!("give {}", rng.pick(&EXPLOITS).copied().unwrap_or("ref")),
        "plain" => format!("give {}", words.written(&plain(work))),
        "random" => {
            let program: Vec<Op> = work.program.iter().map(|_| any(&mut rng)).collect();
            format!("give {}", words.written(&program))
        }
        _ => format!("give {}", words.written(&near(work, &mut rng))),
    }
}

/// The program with one step replaced: its number by another where it has one and chance will, else all of it.
fn near(work: &Worked, rng: &mut Stream) -> Vec<Op> {
    let mut program = work.program.clone();
    let place = rng.below(program.len() as u64) as usize;
    if let Some(op) = program.get_mut(place) {
        let other = loop {
            let other = match op {
                Op::Numbered(word, _) if rng.chance(0.7) => Op::Numbered(word, rng.between(1, 9)),
                _ => any(rng),
            };
            if other != *op {
                break other;
            }
        };
        *op = other;
    }
    program
}

/// The program that was told; where none was, the shortest of one or two steps that fits the first example, or any.
fn plain(work: &Worked) -> Vec<Op> {
    if work.reference != work.program {
        return work.reference.clone();
    }
    let first = work.shown.get(..1).unwrap_or_default();
    let fits = |program: &Vec<Op>| {
        let runs = work.runs(program, first);
        runs.iter().zip(first).all(|(run, (_, wanted))| run.as_ref().is_ok_and(|ran| ran.list == *wanted))
    };
    let every = every();
    let one = every.iter().map(|op| vec![op.clone()]);
    let two = every.iter().flat_map(|op| every.iter().map(move |next| vec![op.clone(), next.clone()]));
    one.chain(two).find(fits).unwrap_or_else(|| vec![Op::Alone("sort")])
}
