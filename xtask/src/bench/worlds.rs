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
    let table = |cleared: bool, bar: Bar| -> Result<String> {
        let median_game = per_round(lines, &json!({"side": "textarena", "cleared": cleared}), "steps_per_s")?;
        let mut rows = Vec::new();
        for world in games("merit") {
            let (peer, speed) = match ALIKE.iter().find(|(ours, _)| *ours == world) {
                Some((_, game)) => (format!("TextArena `{game}`"), theirs(game, cleared)?),
                None => ("TextArena, median game".to_owned(), median_game.clone()),
            };
            let (regime, better) = (format!("`{world}`, steps/s"), Better::Higher);
            rows.push(Row { regime, merit: ours(&world)?, peer, theirs: speed, better, bar });
        }
        Ok(beside_peers(&rows))
    };
    let (as_is, cleared) = (table(false, Bar::Ratio(20.0))?, table(true, Bar::None)?);
    let mut others = Vec::new();
    for game in games("textarena") {
        let (cleared, kept) = (median(&theirs(&game, true)?), median(&theirs(&game, false)?));
        others.push(format!("`{game}` {}, {}", short(kept), short(cleared)));
    }
    Ok(format!(
        "TextArena's games made once and reset for every episode, over a hundred resets:\n\n{as_is}\n\
         The same with what a reset leaves behind in TextArena's wrapper cleared by hand:\n\n{cleared}\n\
         Steps per second of TextArena's games, as they are reset and cleared by hand, medians: {}.\n",
        others.join("; ")
    ))
}
