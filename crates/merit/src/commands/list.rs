//! `merit list`: everything a recipe can name, read from the registries, and the keys of one of them.

use super::WrongInput;
use crate::cli::lists::{Kind, List};
use crate::out;
use crate::reference::{self, keys, sheet};
use anyhow::Result;
use merit_core::About;
use merit_core::registry::{Components, Listed, UnknownName};
use serde_json::json;

/// Components under one heading.
struct Section {
    kind: Kind,
    heading: &'static str,
    /// What each of them is called.
    one: &'static str,
    list: Vec<About>,
}

fn sections(components: &Components) -> Vec<Section> {
    let section = |kind, heading, one, list| Section { kind, heading, one, list };
    let of = |kind, heading, one: &'static str| {
        let listed = components.all().iter().filter(|listed| listed.kind == one);
        section(kind, heading, one, listed.map(|listed| listed.about).collect())
    };
    let rewards = merit_reward::REWARDS.iter().map(|r| r.about).collect();
    let formats = merit_import::FORMATS.iter().map(|f| f.about).collect();
    let recipes = merit_run::shipped::recipes().iter().map(|r| r.about).collect();
    vec![
        of(Kind::Envs, "worlds", "world"),
        of(Kind::Envs, "task sources", "task source"),
        of(Kind::Tools, "tools", "tool"),
        of(Kind::Rewards, "reward terms", "reward term"),
        of(Kind::Rewards, "reward combinators", "reward combinator"),
        of(Kind::Rewards, "annotators", "annotator"),
        of(Kind::Credit, "credit rules", "credit rule"),
        of(Kind::Objectives, "objectives", "objective"),
        of(Kind::Objectives, "loss aggregation", "loss aggregation"),
        of(Kind::Objectives, "selectors", "selector"),
        of(Kind::Objectives, "masks", "mask"),
        section(Kind::Models, "model backends", "model backend", models()),
        section(Kind::Rewards, "rewards", "reward", rewards),
        section(Kind::Formats, "formats", "format", formats),
        of(Kind::Calls, "formats of calls", "call format"),
        of(Kind::Studies, "studies", "study"),
        of(Kind::Probes, "probes of audits", "probe"),
        section(Kind::Recipes, "recipes", "recipe", recipes),
    ]
}

fn models() -> Vec<About> {
    let elsewhere = [merit_rollout::OpenAiSampler::ABOUT, merit_rollout::OracleSampler::ABOUT];
    merit_model::BACKENDS.iter().copied().chain(elsewhere).collect()
}

pub(crate) fn names(kind: Kind, components: &Components) -> Vec<About> {
    sections(components)
        .into_iter()
        .filter(|section| section.kind == kind)
        .flat_map(|section| section.list)
        .collect()
}

pub(crate) fn run(arguments: &List, components: &Components) -> Result<()> {
    let wanted = |kind: Kind| arguments.kind.is_none_or(|k| k == kind);
    let sections: Vec<Section> =
        sections(components).into_iter().filter(|section| wanted(section.kind)).collect();
    match &arguments.name {
        Some(name) => one(components, &sections, name, arguments.json),
        None => all(&sections, arguments.json),
    }
}

fn all(sections: &[Section], json: bool) -> Result<()> {
    let names = sections.iter().flat_map(|section| &section.list).map(|about| about.name.len());
    let width = names.max().unwrap_or(0);
    for (i, Section { heading, list, .. }) in sections.iter().enumerate() {
        if json {
            for about in list {
                out::line(
                    json!({ "kind": heading, "name": about.name, "summary": about.summary, "paper": about.paper }),
                )?;
            }
            continue;
        }
        out::line(format_args!("{}{heading}", if i > 0 { "\n" } else { "" }))?;
        for about in list {
            out::line(format_args!("  {:width$}  {}", about.name, about.help()))?;
        }
    }
    Ok(())
}

/// Everything about what is called `name`; in two sections there may be one each.
fn one(components: &Components, sections: &[Section], name: &str, json: bool) -> Result<()> {
    let named = |section: &Section| {
        section.list.iter().find(|about| about.name == name).map(|about| (section.one, *about))
    };
    let found: Vec<(&str, About)> = sections.iter().filter_map(named).collect();
    if found.is_empty() {
        let heading = sections.first().map_or("component", |section| section.one);
        let known = sections.iter().flat_map(|section| &section.list).map(|about| about.name);
        return Err(WrongInput(UnknownName::among(heading, name, known).to_string()).into());
    }
    for (i, (kind, about)) in found.into_iter().enumerate() {
        let listed = components.all().iter().find(|listed| (listed.kind, listed.about.name) == (kind, name));
        if json {
            rows(components, kind, &about, listed)?;
            continue;
        }
        out::line(format_args!("{}{name} ({kind})\n{}", if i > 0 { "\n" } else { "" }, about.help()))?;
        match listed {
            Some(listed) => out::text(sheet(&document(components, kind), listed))?,
            None => out::line(format_args!("\n{}", elsewhere(kind, name)))?,
        }
    }
    Ok(())
}

/// The schema that defines components of a kind.
fn document(components: &Components, kind: &str) -> serde_json::Value {
    if kind == "study" { reference::system_schema() } else { reference::recipe_schema(components) }
}

/// One JSON object for each key.
fn rows(components: &Components, kind: &str, about: &About, listed: Option<&Listed>) -> Result<()> {
    let Some(listed) = listed else {
        let (name, summary, paper) = (about.name, about.summary, about.paper);
        return Ok(out::line(json!({ "kind": kind, "name": name, "summary": summary, "paper": paper }))?);
    };
    let document = document(components, kind);
    for key in keys::keys(&document, &document["$defs"][listed.definition()]) {
        let (name, of, default, meaning) = (key.name, key.of, key.default, key.meaning);
        out::line(
            json!({ "kind": kind, "of": about.name, "key": name, "type": of, "default": default, "meaning": meaning }),
        )?;
    }
    Ok(())
}

/// What has no keys of its own in a recipe, and where more is said.
fn elsewhere(kind: &str, name: &str) -> String {
    match kind {
        "recipe" => format!("`merit recipe show {name}` prints it with every default."),
        "reward" => {
            format!("`merit reward check {name}` reads it; `merit recipe schema --of reward` has its keys.")
        }
        "model backend" => "`merit recipe reference` has its keys, under `model` and `backend`.".into(),
        _ => "It has no keys.".into(),
    }
}
