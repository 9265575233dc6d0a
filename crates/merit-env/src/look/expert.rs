//! Plays a task of `look` in one of five manners, as a script that is known before the first turn.

use super::{ANIMALS, Channel, Claim, Clip, Figure, Look, MAX_CLAIMS, PLACES, Puzzle, STRETCHES, Scene};
use merit_api::{Demonstration, Manner, TextGame as _, line};
use merit_core::Stream;

pub(super) const MANNERS: &[Manner] = &[
    Manner::new(
        "exact",
        "Looks only where it needs to, at the right place, or claims what the answer needs: right.",
    ),
    Manner::new("hasty", "Answers at once: a guess, but for what the view from afar answers."),
    Manner::new("astray", "Looks somewhere or claims something that it makes up, and guesses."),
    Manner::new(
        "eager",
        "Looks also where it need not, or claims true things as well that nobody asked for: right.",
    ),
    Manner::new(
        "reader",
        "Right where all is told in words, and for names; a guess where something must be seen.",
    ),
];

/// The next line of a demonstration. Lines that were said on the way but are not in the script are passed over.
pub(super) fn next_line(world: &Look, puzzle: &Puzzle, play: &Demonstration<'_>) -> Option<String> {
    let manner = play.manner.unwrap_or(if play.is_correct() { "exact" } else { "hasty" });
    let mut rng = play.seed.child("script", 0).stream();
    let (mut script, answer) = match puzzle {
        Puzzle::Video(clip) => claims(clip, manner, &mut rng),
        Puzzle::Count(figure) => (Vec::new(), counted(figure, manner, &mut rng)),
        _ => looks(world, puzzle, manner, &mut rng),
    };
    let right = || world.answer(puzzle).unwrap_or_default();
    script.push(format!("{} {}", world.verb(), answer.unwrap_or_else(right)));
    let said = |at: usize, turn: &merit_api::ExpertTurn| {
        at + usize::from(script.get(at).is_some_and(|next| next == line(&turn.said)))
    };
    let at = play.turns.iter().fold(0, said);
    script.get(at).or(script.last()).cloned()
}

/// Zooms, and the answer where it is not the right one.
fn looks(world: &Look, puzzle: &Puzzle, manner: &str, rng: &mut Stream) -> (Vec<String>, Option<String>) {
    let Some((scene, needs_zoom)) = puzzle.scene() else { return (Vec::new(), None) };
    let somewhere = [1 + rng.below(u64::from(scene.last())), 1 + rng.below(u64::from(scene.last()))];
    let place = match manner {
        "exact" if needs_zoom => Some(scene.target().map(u64::from)),
        "eager" => Some(scene.target().map(u64::from)),
        "astray" => Some(somewhere),
        _ => None,
    };
    let script = place.filter(|_| world.tool).map(|[row, column]| format!("zoom {row} {column}"));
    let offered = scene.offered(needs_zoom, world.swap);
    let options = if offered.is_empty() { Scene::words(needs_zoom) } else { &offered };
    let guess = rng.pick(options).map(|word| (*word).to_owned());
    let guesses = needs_zoom && matches!(manner, "hasty" | "astray" | "reader");
    (script.into_iter().collect(), guess.filter(|_| guesses))
}

/// The answer where it is not the right one.
fn counted(figure: &Figure, manner: &str, rng: &mut Stream) -> Option<String> {
    let guesses = match manner {
        "hasty" | "astray" => true,
        "reader" => figure.channel != Channel::Text,
        _ => false,
    };
    figure.guess(rng).filter(|_| guesses)
}

/// Claims, and the answer where it is not the right one.
fn claims(clip: &Clip, manner: &str, rng: &mut Stream) -> (Vec<String>, Option<String>) {
    let guess = rng.below(PLACES.len() as u64) as u8;
    let guessed = Some(PLACES[usize::from(guess)].to_owned());
    let mut claims: Vec<Claim> = clip.needed().collect();
    let mut answer = None;
    match manner {
        "hasty" | "reader" => return (Vec::new(), guessed),
        "astray" => {
            let at = rng.below(STRETCHES as u64) as u8;
            for claim in &mut claims {
                claim.at = at;
                claim.place = if claim.who == clip.who { guess } else { claim.place };
            }
            answer = guessed;
        }
        "eager" => {
            while claims.len() < MAX_CLAIMS {
                let (who, at) = (rng.below(ANIMALS.len() as u64) as u8, rng.below(STRETCHES as u64) as u8);
                let place = clip.table[usize::from(at)][usize::from(who)];
                claims.push(Claim { who, at, place });
            }
        }
        _ => {}
    }
    (claims.iter().map(Claim::words).collect(), answer)
}
