//! How tools are chosen: right, without reading, taken for a neighbour, or out of one's head.

use super::{Errand, Mode, Shelf, Takes, Toolshelf};
use crate::script::next_line;
use merit_api::Demonstration;

/// How often `sloppy` takes a neighbour.
const SLIPS: f64 = 0.4;

pub(super) fn line(settings: &Toolshelf, errand: &Errand, play: &Demonstration<'_>) -> Option<String> {
    let shelf = settings.shelf();
    let manner = play.manner.unwrap_or(if play.is_correct() { "exact" } else { "sloppy" });
    let mut rng = play.seed.child("shelf", 0).stream();
    let sure = rng.below(errand.needs.len() as u64) as usize;
    let mut taken: Vec<(String, Option<u32>)> = Vec::new();
    for (at, need) in errand.needs.iter().enumerate() {
        let slip = rng.chance(SLIPS);
        taken.push(match manner {
            "sloppy" if slip => {
                let other = shelf.neighbour(need.tool, &mut rng);
                (shelf.name(other), Some(other))
            }
            "inventor" if at == sure => (shelf.invented(need.tool, &mut rng), None),
            _ => (shelf.name(need.tool), Some(need.tool)),
        });
    }
    let script = if settings.mode == Mode::Agent {
        played(shelf, errand, &taken, manner == "eager", 10 + rng.below(90) as u32)
    } else {
        let names: Vec<&str> = taken.iter().map(|(name, _)| name.as_str()).collect();
        vec![format!("use {}", names.join(" then "))]
    };
    next_line(&script, play)
}

/// Uses tools one after the other and answers what the last one gives. Where one is not on the shelf, it answers a guess. An
/// eager one gives the number and the size before it has read what a tool takes, and again where that is refused.
fn played(
    shelf: &Shelf,
    errand: &Errand,
    taken: &[(String, Option<u32>)],
    eager: bool,
    guess: u32,
) -> Vec<String> {
    let mut script = Vec::new();
    let mut number = errand.number;
    for (name, place) in taken {
        script.push(format!("use {name}"));
        let tool = place.and_then(|place| Some((place, shelf.tool(place)?)));
        let Some((place, tool)) = tool else {
            number = guess;
            break;
        };
        let first = Takes::NumSize.given(number, errand.size);
        let right = tool.takes.given(number, errand.size);
        if eager && first != right {
            script.push(format!("give {first}"));
        }
        number = shelf.run(place, &right).unwrap_or(guess);
        script.push(format!("give {right}"));
    }
    script.push(format!("answer {number}"));
    script
}
