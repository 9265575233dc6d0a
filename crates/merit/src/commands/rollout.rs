//! `merit rollout`: episodes turn by turn.

use crate::cli::runs::{RoleName, Rollout};
use crate::cli::{models, tapes};
use crate::commands::WrongInput;
use crate::{episode_text, out};
use anyhow::{Result, bail};
use merit_core::{Boundary, Components, End, Outcome, ScoredEpisode};
use merit_rollout::{CallForm, OpenAiSettings};
use merit_run::{Backend, EmbeddedModel, Event, Play, Recipe, play_policy, play_role, shipped};
use merit_store::RunFolder;
use serde_json::json;
use std::collections::BTreeMap;

pub(crate) fn run(arguments: &Rollout, components: &Components) -> Result<()> {
    let toolbox = arguments.tools.open()?;
    let play = Play {
        split: arguments.split.into(),
        tasks: arguments.tasks,
        group_size: arguments.group_size,
        temperature: arguments.temperature,
        seed: arguments.seed,
        fork_at: arguments.fork_at,
        toolbox,
    };
    let mut waits = |event: Event| match event {
        Event::Stalled { waiting } => out::complain(format_args!("waiting: {waiting}")),
        Event::Note { text } => out::complain(text),
        _ => {}
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let episodes = match &arguments.run {
        Some(path) => play_policy(&RunFolder::open_read_only(path)?, components, &play, threads, &mut waits)?,
        None => {
            let name = arguments.recipe.as_deref().unwrap_or(shipped::DEFAULT);
            let recipe = shipped::load_with(name, components)?;
            let recipe = recipe.with(&arguments.set)?;
            play_role(&recipe, &backend(arguments, &recipe)?, &play, threads, &mut waits)?
        }
    };
    tapes::report(&play.toolbox)?;
    episodes.iter().try_for_each(|scored| show(scored, arguments.json))?;
    report_failures(&episodes, arguments.json)
}

/// Who acts: the model or the role that is named, otherwise the world's exact oracle.
fn backend(arguments: &Rollout, recipe: &Recipe) -> Result<Backend> {
    let Some(model) = &arguments.model else {
        return Ok(match arguments.role {
            Some(RoleName::Teacher) => recipe.roles.teacher.clone(),
            None => Backend::default(),
        });
    };
    let calls = if arguments.native_tools { CallForm::Native } else { CallForm::Text };
    match models::server(model, &arguments.server)? {
        Some(server) => {
            let settings = OpenAiSettings { calls, ..OpenAiSettings::new(server) };
            settings.validate().map_err(|error| WrongInput(error.to_string()))?;
            Ok(Backend::Openai(Box::new(settings)))
        }
        None if arguments.native_tools => {
            bail!(WrongInput(format!("--native-tools is for a server, and {model} is a path")))
        }
        None => Ok(Backend::Embedded(EmbeddedModel { file: model.clone(), context: None })),
    }
}

/// Says how many episodes broke and why. When all did, the command failed.
fn report_failures(episodes: &[ScoredEpisode], as_json: bool) -> Result<()> {
    let mut causes = BTreeMap::<String, usize>::new();
    for cause in episodes.iter().filter_map(cause) {
        *causes.entry(cause).or_default() += 1;
    }
    let failed: usize = causes.values().sum();
    if failed == 0 {
        return Ok(());
    }
    let mut causes: Vec<(String, usize)> = causes.into_iter().collect();
    causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let causes: Vec<String> = causes.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
    let words = format!("{failed} of {} failed: {}", episodes.len(), causes.join(", "));
    if failed == episodes.len() {
        bail!(words);
    }
    if as_json {
        out::complain(words);
        return Ok(());
    }
    Ok(out::line(words)?)
}

/// Why an episode broke, in words that all of one kind share. Absent: it did not break.
fn cause(scored: &ScoredEpisode) -> Option<String> {
    match &scored.episode.end {
        End::Failed { fault } => {
            let side = match fault.boundary {
                Boundary::Environment => "world broke",
                Boundary::Tool => "tool broke",
                Boundary::Model => "model broke",
                Boundary::Reward => "reward broke",
                Boundary::Unknown => "of unknown cause",
            };
            Some(fault.cause.clone().unwrap_or_else(|| side.to_owned()))
        }
        _ if scored.outcome() == Outcome::GraderFailed => Some("reward broke".to_owned()),
        _ => None,
    }
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
