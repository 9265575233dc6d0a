//! Programs made slower without changing what they do: what a faster program can be asked for.

use super::language::Op;
use merit_core::Stream;

/// The program with most of its steps done in a roundabout way.
pub(super) fn slackened(program: &[Op], rng: &mut Stream) -> Vec<Op> {
    let slow = |op: &Op| if rng.chance(0.8) { roundabout(op, rng) } else { vec![op.clone()] };
    program.iter().flat_map(slow).collect()
}

/// Some steps that together do what one does.
fn roundabout(op: &Op, rng: &mut Stream) -> Vec<Op> {
    let again = |times: usize| vec![op.clone(); times];
    match op {
        Op::Numbered(word @ ("add" | "less"), number @ 2..) => {
            let part = rng.between(1, number - 1);
            if rng.chance(0.5) {
                vec![Op::Numbered(word, part), Op::Numbered(word, number - part)]
            } else {
                vec![Op::Do(*number, vec![Op::Numbered(word, 1)])]
            }
        }
        Op::Numbered("drop", number @ 2..) => vec![Op::Do(*number, vec![Op::Numbered("drop", 1)])],
        Op::Numbered("mul", number @ (4 | 9)) => {
            let root = if *number == 4 { 2 } else { 3 };
            vec![Op::Do(2, vec![Op::Numbered("mul", root)])]
        }
        Op::Numbered("take" | "mod" | "over", _) | Op::Alone("sort" | "odd" | "even") => again(2),
        Op::Alone("flip" | "neg") => again(3),
        Op::Alone("top") => vec![Op::Alone("sort"), Op::Alone("flip"), Op::Alone("head")],
        Op::Alone("low") => vec![Op::Alone("sort"), Op::Alone("head")],
        Op::Alone("scan") => vec![Op::Alone("neg"), Op::Alone("scan"), Op::Alone("neg")],
        _ => vec![Op::Alone("flip"), Op::Alone("flip"), op.clone()],
    }
}
