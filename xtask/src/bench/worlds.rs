//! The worlds stepped beside TextArena's single-player games, one thread, no model.

use super::job::{Job, interleave};
use super::lines::per_round;
use super::record::Record;
use super::spread::{median, short};
use super::table::{Bar, Better, Row, beside_peers};
use super::{Asked, Subject};
use anyhow::Result;
use serde_json::json;
use std::collections::BTreeSet;

pub(super) const SUBJECT: Subject = Subject {
    name: "worlds",
    by_default: true,
    peers: &["textarena"],
    examples: &[("merit-env", "stepping")],
    measure,
};

/// The peer's game of the same kind as a world: a board that hides mines; a walk; numbers to be put together; something hidden, to be found
/// by asking. Any other world is held against the middle one of the peer's games.
const ALIKE: [(&str, &str); 5] = [
    ("boards", "Minesweeper-v0"),
    ("clinic", "Mastermind-v0"),
    ("inquiry", "Mastermind-v0"),
    ("places", "FrozenLake-v0"),
    ("sums", "Countdown-v0"),
];

/// How many times as fast as TextArena's games worlds are to step.
const BAR: f64 = 20.0;

/// Which worlds are below the bar, the slowest first.
fn below(mut ratios: Vec<(String, f64)>) -> String {
    let all = ratios.len();
    ratios.retain(|(_, ratio)| *ratio < BAR);
    ratios.sort_by(|one, other| one.1.total_cmp(&other.1));
    let named: Vec<String> =
        ratios.iter().map(|(world, ratio)| format!("`{world}` {}×", short(*ratio))).collect();
    match named.is_empty() {
        true => format!("None of {all} is below {BAR}× there."),
        false => format!("Below {BAR}× there, {} of {all}: {}.", named.len(), named.join(", ")),
    }
}

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    let seconds = if asked.quick { 0.05 } else { 1.0 };
    let ours = Job::merit("stepping", &seconds.to_string(), json!({}));
    let arguments = format!("--seconds {seconds}");
    let theirs = Job::peer_in("worlds", "textarena", "textarena_steps.py", &arguments, json!({}));
    interleave(&[ours, theirs], asked.rounds, record)?;
    let lines = &record.lines;
    let games = |side: &str| -> BTreeSet<String> {
        let of_side = lines.iter().filter(|line| line["side"] == side);
        of_side.filter_map(|line| Some(line["game"].as_str()?.to_owned())).collect()
    };
    let ours = |game: &str| per_round(lines, &json!({"side": "merit", "game": game}), "steps_per_s");
    let theirs = |game: &str, cleared: bool| {
        per_round(lines, &json!({"side": "textarena", "game": game, "cleared": cleared}), "steps_per_s")
    };
    let table = |cleared: bool, bar: Bar| -> Result<(String, Vec<(String, f64)>)> {
        let median_game = per_round(lines, &json!({"side": "textarena", "cleared": cleared}), "steps_per_s")?;
        let (mut rows, mut ratios) = (Vec::new(), Vec::new());
        for world in games("merit") {
            let (peer, speed) = match ALIKE.iter().find(|(ours, _)| *ours == world) {
                Some((_, game)) => (format!("TextArena `{game}`"), theirs(game, cleared)?),
                None => ("TextArena, median game".to_owned(), median_game.clone()),
            };
            let (regime, better) = (format!("`{world}`, steps/s"), Better::Higher);
            let merit = ours(&world)?;
            ratios.push((world, median(&merit) / median(&speed)));
            rows.push(Row { regime, merit, peer, theirs: speed, better, bar });
        }
        Ok((beside_peers(&rows), ratios))
    };
    let ((as_is, _), (cleared, ratios)) = (table(false, Bar::Ratio(BAR))?, table(true, Bar::None)?);
    let below = below(ratios);
    let mut others = Vec::new();
    for game in games("textarena") {
        let (cleared, kept) = (median(&theirs(&game, true)?), median(&theirs(&game, false)?));
        others.push(format!("`{game}` {}, {}", short(kept), short(cleared)));
    }
    Ok(format!(
        "TextArena's games made once and reset for every episode, over a hundred resets:\n\n{as_is}\n\
         The same with what a reset leaves behind in TextArena's wrapper cleared by hand:\n\n{cleared}\n{below}\n\n\
         Steps per second of TextArena's games, as they are reset and cleared by hand, medians: {}.\n",
        others.join("; ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worlds_below_the_bar_are_told_with_the_slowest_first() {
        let of = |ratios: &[(&str, f64)]| {
            below(ratios.iter().map(|(world, ratio)| ((*world).to_owned(), *ratio)).collect())
        };
        let some = of(&[("boards", 47.1), ("kbqa", 12.07), ("repair", 3.2), ("sums", 20.0)]);
        assert_eq!(some, "Below 20× there, 2 of 4: `repair` 3.20×, `kbqa` 12.1×.");
        assert_eq!(of(&[("boards", 47.1)]), "None of 1 is below 20× there.");
    }
}
