//! `merit rollout`: episodes turn by turn.

use crate::cli::runs::{RoleName, Rollout, SplitName};
use crate::cli::{models, tapes};
use crate::commands::WrongInput;
use crate::{episode_text, out};
use anyhow::{Result, bail};
use merit_core::{ScoredEpisode, Split};
use merit_rollout::OpenAiSettings;
use merit_run::{Backend, EmbeddedModel, Event, Play, Recipe, play_policy, play_role, shipped};
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
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let episodes = match &arguments.run {
        Some(path) => play_policy(&RunFolder::open_read_only(path)?, &play, threads, &mut waits)?,
        None => {
            let recipe = shipped::load(arguments.recipe.as_deref().unwrap_or(shipped::DEFAULT))?;
            let recipe = recipe.with(&arguments.set)?;
            play_role(&recipe, &backend(arguments, &recipe)?, &play, threads, &mut waits)?
        }
    };
    tapes::report(&play.toolbox)?;
    episodes.iter().try_for_each(|scored| show(scored, arguments.json))
}

/// Who acts: the model or the role that is named, otherwise the world's exact oracle.
fn backend(arguments: &Rollout, recipe: &Recipe) -> Result<Backend> {
    let Some(model) = &arguments.model else {
        return Ok(match arguments.role {
            Some(RoleName::Teacher) => recipe.roles.teacher.clone(),
            None => Backend::default(),
        });
    };
    Ok(match (models::server(model, arguments.api_key_env.as_deref())?, &arguments.api_key_env) {
        (Some(server), _) => Backend::Openai(Box::new(OpenAiSettings::new(server))),
        (None, Some(name)) => {
            bail!(WrongInput(format!("--api-key-env {name} is for a server, and {model} is a path")))
        }
        (None, None) => Backend::Embedded(EmbeddedModel { file: model.clone(), context: None }),
    })
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
