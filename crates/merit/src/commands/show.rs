//! `merit show`: a run in tables, or one of its episodes turn by turn.

use super::WrongInput;
use crate::cli::runs::Show;
use crate::{episode_text, out};
use anyhow::Result;
use merit_core::{Arm, EpisodeId, Phase, StageKind, When};
use merit_measure::{HeldOut, Rate, RunSummary};
use merit_store::{ImportInfo, RunFolder};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

pub(crate) fn run(arguments: &Show) -> Result<()> {
    let folder = RunFolder::open_read_only(&arguments.run)?;
    match &arguments.episode {
        Some(name) => show_episode(&folder, name, arguments.json),
        None if arguments.json => Ok(out::line(as_json(&folder)?)?),
        None => Ok(out::text(table(&folder)?)?),
    }
}

fn show_episode(folder: &RunFolder, name: &str, as_json: bool) -> Result<()> {
    let id = parse_id(name).ok_or_else(|| {
        WrongInput(format!("`{name}` names no episode; write PHASE/STEP/GROUP/MEMBER, e.g. train/12/0/3"))
    })?;
    let stored = folder.episode(&id)?.ok_or_else(|| {
        let phases: Vec<String> = folder.phases().unwrap_or_default().iter().map(Phase::to_string).collect();
        let phases = phases.join(", ");
        WrongInput(format!("the run has no episode `{name}`; its phases are {phases}"))
    })?;
    if as_json {
        let credit = stored.credit.as_ref().map(|c| json!({ "advantages": c.advantages, "note": c.note }));
        let scored = &stored.scored;
        let outcome = scored.outcome();
        let line = json!({ "episode": &*scored.episode, "score": scored.score, "outcome": outcome, "credit": credit });
        return Ok(out::line(line)?);
    }
    out::text(episode_text::render(&stored.scored))?;
    if let Some(credit) = &stored.credit {
        out::line(format_args!("  credit: {}", credit.note.trim_end().replace('\n', "\n          ")))?;
    }
    Ok(())
}

fn parse_id(name: &str) -> Option<EpisodeId> {
    let (name, branch) = name.split_once('+').unwrap_or((name, "0"));
    let parts: Vec<&str> = name.split('/').collect();
    let [phase, step, group, member] = parts.as_slice() else { return None };
    Some(EpisodeId {
        phase: (*phase).into(),
        step: step.parse().ok()?,
        group: group.parse().ok()?,
        member: member.parse().ok()?,
        branch: branch.parse().ok()?,
    })
}

/// The run in tables.
pub(crate) fn table(folder: &RunFolder) -> Result<String> {
    let summary = RunSummary::read(folder)?;
    let info = &summary.info;
    let mut text = match folder.import()? {
        Some(import) => {
            let ImportInfo { source, format, sha256, episodes, skipped, .. } = import;
            format!(
                "{episodes} episodes imported from {source} ({format}, {skipped} skipped, sha256 {sha256})\n"
            )
        }
        None => {
            let mut text =
                format!("recipe {} (hash {}), seed {}\n\n", info.recipe, info.recipe_hash, info.seed);
            held_out_table(&mut text, &summary)?;
            let begun = summary.events.iter().any(|event| event.kind == "started");
            if begun && folder.mark::<bool>("finished")? != Some(true) {
                let path = folder.path().display();
                writeln!(text, "\nnot finished: `merit train --resume {path}` goes on")?;
            }
            text
        }
    };
    if let Some(change) = &summary.change {
        let (gained, lost) = (change.gained, change.lost);
        writeln!(text, "\n{gained} held-out tasks gained, {lost} lost by learning")?;
    }
    outcome_table(&mut text, &summary)?;
    Ok(text)
}

fn held_out_table(text: &mut String, summary: &RunSummary) -> Result<()> {
    let wanted = |held: &&HeldOut| {
        !matches!(held.phase, Phase::Eval(_, When::Step) | Phase::Stage(StageKind::Between, _))
    };
    // Of a phase that was measured again, the latest.
    let last =
        |held: &&HeldOut| summary.evaluation_of(&held.phase).is_some_and(|last| std::ptr::eq(last, *held));
    let mut rows: Vec<&HeldOut> = summary.held_out.iter().filter(wanted).filter(last).collect();
    rows.sort_by_key(|held| (held.is_control(), held.phase == Phase::eval(When::After)));
    let sizes: BTreeSet<u32> = rows.iter().flat_map(|held| held.by_size.keys().copied()).collect();
    write!(text, "{:<28} {:>9} {:>15}", "held-out success (greedy)", "all", "95% interval")?;
    sizes.iter().try_for_each(|size| write!(text, " {:>7}", format!("size {size}")))?;
    writeln!(text)?;
    for held in rows {
        write!(
            text,
            "{:<28} {:>9} {:>15}",
            label(&held.phase),
            percent(held.all.success),
            interval(&held.all)
        )?;
        for size in &sizes {
            let cell = held.by_size.get(size).map_or("-".to_owned(), |rate| percent(rate.success));
            write!(text, " {cell:>7}")?;
        }
        writeln!(text)?;
    }
    Ok(())
}

fn label(phase: &Phase) -> String {
    match phase {
        Phase::Eval(Arm::Main, When::Before) => "before (no RL)".to_owned(),
        Phase::Eval(Arm::Control(name), _) => format!("control {name}"),
        Phase::Stage(_, name) => name.clone(),
        _ => "after".to_owned(),
    }
}

fn percent(rate: f64) -> String {
    format!("{:.1}%", rate * 100.0)
}

fn interval(rate: &Rate) -> String {
    rate.interval.map_or_else(String::new, |i| format!("{:.1}–{:.1}%", i.low * 100.0, i.high * 100.0))
}

fn outcome_table(text: &mut String, summary: &RunSummary) -> Result<()> {
    write!(text, "\n{:<16}", "episodes")?;
    let shown = summary.outcomes_shown();
    shown.iter().try_for_each(|outcome| write!(text, " {:>21}", outcome.name()))?;
    writeln!(text)?;
    for (phase, counts) in &summary.outcomes {
        write!(text, "{phase:<16}")?;
        counts.iter().take(shown.len()).try_for_each(|count| write!(text, " {count:>21}"))?;
        writeln!(text)?;
    }
    Ok(())
}

fn as_json(folder: &RunFolder) -> Result<Value> {
    let summary = RunSummary::read(folder)?;
    let info = &summary.info;
    Ok(json!({
        "recipe": info.recipe,
        "recipe_hash": info.recipe_hash,
        "seed": info.seed,
        "finished": folder.mark::<bool>("finished")?.unwrap_or(false),
        "train_seconds": folder.mark::<f64>("train_seconds")?,
        "held_out": summary.held_out,
        "change": summary.change,
        "curve": summary.curve.points,
        "outcomes": summary.outcomes,
        "costs": summary.costs,
        "tokens_per_s": summary.tokens_per_s,
    }))
}
