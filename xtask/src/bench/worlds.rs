//! The worlds stepped beside TextArena's single-player games, one thread, no model.

use super::job::{Job, interleave};
use super::lines::per_round;
use super::record::Record;
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

/// The peer's game that is most like a world. Any other world is held against the peer's fastest, which hardly does anything.
const ALIKE: [(&str, &str); 2] = [("boards", "Minesweeper-v0"), ("places", "FrozenLake-v0")];
const FASTEST: &str = "GuessTheNumber-v0";

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
    let speed =
        |side: &str, game: &str| per_round(lines, &json!({"side": side, "game": game}), "steps_per_s");
    let mut rows = Vec::new();
    for world in games("merit") {
        let alike = ALIKE.iter().find(|(ours, _)| *ours == world).map_or(FASTEST, |(_, theirs)| *theirs);
        rows.push(Row {
            regime: format!("`{world}`, steps/s"),
            merit: speed("merit", &world)?,
            peer: format!("TextArena `{alike}`"),
            theirs: speed("textarena", alike)?,
            better: Better::Higher,
            bar: Bar::Ratio(20.0),
        });
    }
    let mut others = String::new();
    for game in games("textarena") {
        let mut found = speed("textarena", &game)?;
        found.sort_by(f64::total_cmp);
        others +=
            &format!("{}`{game}` {:.0}", if others.is_empty() { "" } else { ", " }, found[found.len() / 2]);
    }
    Ok(format!("{}\nSteps per second of TextArena's games, medians: {others}.\n", beside_peers(&rows)))
}
