//! The first thing a reader sees: before and after with intervals, the controls beside them, and what may be concluded.

use crate::html::{escape, percent};
use crate::{HeldOut, Rate, RunSummary};
use merit_core::{Arm, Phase, When};
use std::fmt::Write as _;

pub(crate) fn headline(summary: &RunSummary) -> String {
    let before = summary.evaluation(When::Before);
    let after = summary.evaluation(When::After);
    let mut out = String::from("<section class=\"card\">\n");
    match (before, after) {
        (Some(before), Some(after)) => {
            let (before, after) = (percent(before.all.success), percent(after.all.success));
            let _ = writeln!(out, "<p class=\"big\"><span class=\"was\">{before} →</span> {after}</p>");
            out.push_str("<p class=\"soft\">success on held-out tasks, before and after training</p>\n");
        }
        (Some(held), None) | (None, Some(held)) => {
            let when = if before.is_some() { "before" } else { "after" };
            let _ = writeln!(out, "<p class=\"big\">{}</p>", percent(held.all.success));
            let _ = writeln!(out, "<p class=\"soft\">success on held-out tasks {when} training; nothing to compare with</p>");
        }
        (None, None) => out.push_str("<p>No evaluation on held-out tasks is recorded, so nothing can be said about what was learned.</p>\n"),
    }
    for said in summary.ablations() {
        let _ = writeln!(out, "<p><strong>Ablation</strong>: {}</p>", escape(said));
    }
    for said in summary.unproven() {
        let _ = writeln!(out, "<p><strong>Unproven model</strong>: {}</p>", escape(said));
    }
    let _ = writeln!(out, "<p>{}</p>", conclusion(summary));
    out.push_str(&forest(summary));
    out.push_str("</section>\n");
    out
}

/// What a phase is called.
pub(crate) fn title(phase: &Phase) -> String {
    let name = match phase {
        Phase::Eval(Arm::Control(name), When::After) => name.clone(),
        Phase::Eval(arm, when) => {
            let when = match when {
                When::Before => "before",
                When::Step => "step",
                When::After => "after",
            };
            if *arm == Arm::Main { when.to_owned() } else { format!("{}, {when}", arm.name()) }
        }
        Phase::Stage(_, name) => name.clone(),
        other => other.to_string(),
    };
    escape(&name.replace('-', " "))
}

fn conclusion(summary: &RunSummary) -> String {
    let Some(change) = &summary.change else { return String::new() };
    let (difference, interval) = (&change.difference, &change.difference.interval);
    let range = format!(
        "95% interval {} to {}, paired over {} tasks",
        points(interval.low),
        points(interval.high),
        difference.tasks
    );
    let direction = if interval.low > 0.0 {
        format!("Held-out success rose by {} points", points(difference.mean))
    } else if interval.high < 0.0 {
        format!("Held-out success fell by {} points", points(difference.mean.abs()))
    } else {
        format!("Held-out success moved by {} points, which chance alone could do", points(difference.mean))
    };
    let counts = format!(
        "{} tasks were gained, {} lost, {} solved both times, {} never.",
        change.gained, change.lost, change.kept, change.never
    );
    format!("{direction} ({range}). {counts}")
}

fn points(share: f64) -> String {
    format!("{:.1}", share * 100.0).replace('-', "−")
}

/// One line per evaluation: a dot with its interval on a scale from 0 to 100 %.
fn forest(summary: &RunSummary) -> String {
    let ends = [When::Before, When::After].into_iter().filter_map(|when| summary.evaluation(when));
    let lines: String = ends.chain(summary.named()).chain(summary.controls()).map(line).collect();
    if lines.is_empty() { lines } else { format!("<div class=\"forest\">\n{lines}</div>\n") }
}

fn line(held: &HeldOut) -> String {
    let class = match &held.phase {
        Phase::Eval(Arm::Main, When::Before) => "before",
        Phase::Eval(Arm::Main, _) | Phase::Stage(..) => "after",
        _ => "control",
    };
    let name =
        if class == "control" { format!("control: {}", title(&held.phase)) } else { title(&held.phase) };
    format!(
        "<div class=\"name\">{name}</div><div class=\"num\">{}</div><div class=\"track {class}\">{}</div>\n",
        rate(&held.all),
        dot(&held.all)
    )
}

fn dot(rate: &Rate) -> String {
    let range = rate.interval.map_or_else(String::new, |i| {
        format!("<i style=\"left:{:.2}%;width:{:.2}%\"></i>", i.low * 100.0, (i.high - i.low) * 100.0)
    });
    format!("{range}<b style=\"left:{:.2}%\"></b>", rate.success * 100.0)
}

/// A rate with its interval and count.
pub(crate) fn rate(rate: &Rate) -> String {
    let interval =
        rate.interval.map_or_else(String::new, |i| format!("{}–{}", percent(i.low), percent(i.high)));
    let count = rate.count.map_or_else(String::new, |n| format!("n {n}"));
    let left_out = if rate.left_out > 0 { format!("{} left out", rate.left_out) } else { String::new() };
    let notes: Vec<String> =
        [interval, count, left_out].into_iter().filter(|note| !note.is_empty()).collect();
    format!("{} <small>{}</small>", percent(rate.success), notes.join(", "))
}
