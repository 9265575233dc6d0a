//! `merit rollout`: episodes turn by turn.

use crate::cli::{Rollout, SplitName};
use crate::{episode_text, out, tape_flags};
use anyhow::Result;
use merit_core::{ScoredEpisode, Split};
use merit_run::{Event, Play, play_oracle, play_policy, shipped};
use merit_store::RunFolder;
use serde_json::json;

pub(crate) fn run(arguments: &Rollout) -> Result<()> {
    let toolbox = arguments.tools.open()?;
    let play = Play {
        split: match arguments.split {
            SplitName::Train => Split::Train,
            SplitName::HeldOut => Split::HeldOut,
        },
        tasks: arguments.tasks,
        group_size: arguments.group_size,
        temperature: arguments.temperature,
        seed: arguments.seed,
        fork_at: arguments.fork_at,
        toolbox,
    };
    let mut waits = |event: Event| {
        if let Event::Stalled { waiting } = event {
            out::complain(format_args!("waiting: {waiting}"));
        }
    };
    let episodes = match &arguments.run {
        Some(path) => {
            let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            play_policy(&RunFolder::open_read_only(path)?, &play, threads, &mut waits)?
        }
        None => {
            let recipe = shipped::load(arguments.recipe.as_deref().unwrap_or(shipped::DEFAULT))?;
            play_oracle(&recipe.with(&arguments.set)?, &play, &mut waits)?
        }
    };
    tape_flags::report(&play.toolbox)?;
    episodes.iter().try_for_each(|scored| show(scored, arguments.json))
}

fn show(scored: &ScoredEpisode, as_json: bool) -> Result<()> {
    if as_json {
        let outcome = scored.outcome();
        let line = json!({ "outcome": outcome, "reward": scored.reward(), "episode": &*scored.episode, "score": scored.score });
        out::line(line)?;
    } else {
        out::line(episode_text::render(scored))?;
    }
    Ok(())
}
