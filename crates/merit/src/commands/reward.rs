//! `merit reward check|show`: a reward before anybody learns from it.

use super::{Findings, load_episodes};
use crate::cli::rewards::Reward;
use crate::out;
use anyhow::{Result, bail};
use merit_core::printable::count as words;
use merit_core::{Components, Episode};
use merit_reward::{Severity, check_with};
use merit_run::reward_file;
use serde_json::json;

pub(crate) fn run(command: &Reward, components: &Components) -> Result<()> {
    match command {
        Reward::Show { reward } => {
            let reward = reward_file::load_with(reward, components)?;
            Ok(out::text(toml::to_string_pretty(&reward.config)?)?)
        }
        Reward::Check { reward, episodes, json } => check((reward, components), episodes.as_deref(), *json),
    }
}

fn check(
    (reward, components): (&str, &Components),
    episodes: Option<&std::path::Path>,
    as_json: bool,
) -> Result<()> {
    let reward = reward_file::load_with(reward, components)?;
    let samples: Vec<Episode> = match episodes {
        Some(path) => load_episodes(path)?.episodes.iter().map(|e| Episode::clone(e)).collect(),
        None => Vec::new(),
    };
    let found = check_with(&reward.config, &samples)?;
    let count = |severity| found.iter().filter(|w| w.severity == severity).count();
    let errors = count(Severity::Error);
    for warning in &found {
        if as_json {
            out::line(json!(warning))?;
            continue;
        }
        let severity = format!("{:?}", warning.severity).to_lowercase();
        out::line(format_args!("{severity}: at `{}`: {}", warning.at, warning.what))?;
        out::line(format_args!("  why: {}", warning.why))?;
        out::line(format_args!("  do:  {}", warning.advice))?;
    }
    if !as_json {
        let terms = reward.config.term_names().len();
        let (warnings, hints) = (count(Severity::Warning), count(Severity::Hint));
        out::line(format_args!(
            "{}: {}; {}, {}, {}",
            reward.name,
            words(terms, "term"),
            words(errors, "error"),
            words(warnings, "warning"),
            words(hints, "hint")
        ))?;
    }
    if errors > 0 {
        bail!(Findings(format!(
            "{} teaches the wrong thing in {}; see above",
            reward.name,
            words(errors, "way")
        )));
    }
    Ok(())
}
