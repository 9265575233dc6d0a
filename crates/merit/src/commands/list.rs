//! `merit list`: everything a recipe can name, read from the registries.

use crate::cli::lists::{Kind, List};
use crate::out;
use anyhow::Result;
use merit_core::About;
use serde_json::json;

/// A kind with its sections: heading and components.
type Section = (Kind, &'static str, Vec<About>);

fn sections() -> Vec<Section> {
    vec![
        (Kind::Envs, "worlds", merit_env::WORLDS.iter().map(|e| e.about).collect()),
        (Kind::Envs, "task sources", merit_run::TASK_SOURCES.iter().map(|s| s.about).collect()),
        (Kind::Tools, "tools", merit_tools::TOOLS.iter().map(|t| t.about).collect()),
        (
            Kind::Rewards,
            "reward terms",
            merit_reward::TERMS.iter().chain(merit_graders::TERMS).map(|t| t.about).collect(),
        ),
        (Kind::Rewards, "reward combinators", merit_reward::COMBINATORS.iter().map(|c| c.about).collect()),
        (Kind::Rewards, "annotators", merit_run::ANNOTATORS.iter().map(|a| a.about).collect()),
        (Kind::Credit, "credit rules", merit_credit::RULES.iter().map(|r| r.about).collect()),
        (Kind::Objectives, "objectives", merit_learn::OBJECTIVES.iter().map(|o| o.about).collect()),
        (Kind::Objectives, "loss aggregation", merit_learn::LOSS_AGGS.iter().map(|l| l.about).collect()),
        (Kind::Objectives, "selectors", merit_learn::SELECTORS.iter().map(|s| s.about).collect()),
        (Kind::Objectives, "masks", merit_learn::MASKS.iter().map(|m| m.about).collect()),
        (Kind::Models, "model backends", models()),
        (Kind::Rewards, "rewards", merit_reward::REWARDS.iter().map(|r| r.about).collect()),
        (Kind::Formats, "formats", merit_import::FORMATS.iter().map(|f| f.about).collect()),
        (
            Kind::Calls,
            "formats of calls",
            merit_tools::formats::CALL_FORMATS.iter().map(|f| f.about).collect(),
        ),
        (Kind::Recipes, "recipes", merit_run::shipped::recipes().iter().map(|r| r.about).collect()),
    ]
}

fn models() -> Vec<About> {
    let programs = merit_rollout::SAMPLERS.iter().map(|p| p.about);
    let remotes = merit_rollout::REMOTES.iter().map(|r| r.about);
    merit_model::BACKENDS.iter().copied().chain(remotes).chain(programs).collect()
}

pub(crate) fn run(arguments: &List) -> Result<()> {
    let wanted = |kind: Kind| arguments.kind.is_none_or(|k| k == kind);
    let sections: Vec<Section> = sections().into_iter().filter(|(kind, ..)| wanted(*kind)).collect();
    let width = sections.iter().flat_map(|(.., list)| list).map(|about| about.name.len()).max().unwrap_or(0);
    for (i, (_, heading, list)) in sections.iter().enumerate() {
        if arguments.json {
            for about in list {
                out::line(
                    json!({ "kind": heading, "name": about.name, "summary": about.summary, "paper": about.paper }),
                )?;
            }
            continue;
        }
        out::line(format_args!("{}{heading}", if i > 0 { "\n" } else { "" }))?;
        for about in list {
            let paper = if about.paper.is_empty() { String::new() } else { format!(" [{}]", about.paper) };
            out::line(format_args!("  {:width$}  {}{paper}", about.name, about.summary))?;
        }
    }
    Ok(())
}
