//! The plain sections of a report: charts of training, outcome counts, held-out success by size, cost and events.

use crate::chart::{Chart, Mark};
use crate::headline::{rate, title};
use crate::html::{count, date, duration, escape, number, percent, table};
use crate::{HeldOut, RunSummary, TermSeries};
use merit_core::{Cost, Outcome, Phase, StageKind, When};
use std::collections::{BTreeMap, BTreeSet};

const BIG: (f64, f64) = (560.0, 250.0);
const SMALL: (f64, f64) = (230.0, 110.0);

/// The learning curve with its spread and the held-out points.
pub(crate) fn learning_curve(summary: &RunSummary) -> String {
    let points = &summary.curve.points;
    if points.is_empty() {
        return String::new();
    }
    let line: Vec<(u64, f64)> = points.iter().map(|p| (p.step, p.success)).collect();
    let last = points.last().map_or(0, |p| p.step);
    let measured =
        |held: &&HeldOut| !held.is_control() && !matches!(held.phase, Phase::Stage(StageKind::Evaluate, _));
    let on_the_way = summary.held_out.iter().filter(measured).map(|held| {
        let step = match &held.phase {
            Phase::Eval(_, When::Before) => 0,
            Phase::Eval(_, When::After) => last,
            _ => held.step,
        };
        Mark { step, value: held.all.success, interval: held.all.interval.map(|i| (i.low, i.high)) }
    });
    let chart = Chart {
        label: "Success over training steps",
        size: BIG,
        share: true,
        line: &line,
        second: &[],
        band: points.iter().filter_map(|p| p.quartiles.map(|(low, high)| (p.step, low, high))).collect(),
        marks: on_the_way.collect(),
    };
    let constant = constant_groups(summary);
    format!(
        "<h2>Learning curve</h2>\n<figure class=\"wide\">{}<figcaption>Line: share of training episodes solved at each step. \
         Band: middle half of the step's groups. Rings: held-out success with 95% intervals.{constant}</figcaption></figure>\n",
        chart.draw()
    )
}

fn constant_groups(summary: &RunSummary) -> String {
    let groups = &summary.curve.constant_groups;
    let total: f64 = groups.iter().map(|g| g.1).sum();
    match groups.len() {
        0 => String::new(),
        steps => format!(
            " Over {steps} steps, {} groups had the same reward for all members and taught nothing.",
            count(total.round() as u64)
        ),
    }
}

/// Each term of the reward in its own chart.
pub(crate) fn reward_terms(terms: &[TermSeries]) -> String {
    let drawn: String = terms.iter().filter(|term| !term.means.is_empty()).map(term_chart).collect();
    if drawn.is_empty() {
        return drawn;
    }
    format!(
        "<h2>Terms of the reward</h2>\n<p class=\"soft\">Mean value of each term over training steps. A dashed line is its share \
         of the reward's variance over the step's episodes, where that was recorded.</p>\n<div class=\"small\">\n{drawn}</div>\n"
    )
}

fn term_chart(term: &TermSeries) -> String {
    small(&term.name, &term.means, &term.variance_shares)
}

fn small(name: &str, points: &[(u64, f64)], second: &[(u64, f64)]) -> String {
    let chart =
        Chart { label: name, size: SMALL, share: false, line: points, second, band: vec![], marks: vec![] };
    let ends = match (points.first(), points.last()) {
        (Some(first), Some(last)) => format!("{} → {}", number(first.1), number(last.1)),
        _ => String::new(),
    };
    format!(
        "<figure><figcaption>{}<small>{ends}</small></figcaption>{}</figure>\n",
        escape(name),
        chart.draw()
    )
}

/// Losses and everything else measured over the steps.
pub(crate) fn other_series(summary: &RunSummary) -> String {
    let drawn: String =
        summary.series.iter().map(|series| small(series.title, &series.points, &[])).collect();
    if drawn.is_empty() {
        drawn
    } else {
        format!("<h2>Losses and measurements</h2>\n<div class=\"small\">\n{drawn}</div>\n")
    }
}

/// The outcomes of every phase; the last two, which say nothing of success, only where there are any.
pub(crate) fn outcomes(summary: &RunSummary) -> String {
    if summary.outcomes.is_empty() {
        return String::new();
    }
    let mut head = vec!["phase"];
    let shown = summary.outcomes_shown();
    head.extend(shown.iter().map(|outcome| outcome.name()));
    let rows: Vec<Vec<String>> = in_order(&summary.outcomes)
        .into_iter()
        .map(|(phase, counts)| {
            let mut row = vec![escape(&phase.to_string())];
            row.extend(counts.iter().take(shown.len()).map(|n| count(*n)));
            row
        })
        .collect();
    format!(
        "<h2>Outcomes</h2>\n<p class=\"soft\">Only the first three are verdicts on the policy. The others earn nothing, train \
         nothing and stay out of success rates.{}</p>\n{}",
        match shown.last() {
            Some(Outcome::Scored) => " What is only scored does earn and train.",
            Some(Outcome::Left) =>
                " What is only scored does earn and train; branches that were left train where turns are compared.",
            _ => "",
        },
        table(&head, true, &rows)
    )
}

/// Held-out success by the size of the task.
pub(crate) fn by_size(summary: &RunSummary) -> String {
    let mut columns = Vec::new();
    columns.extend([When::Before, When::After].into_iter().filter_map(|when| summary.evaluation(when)));
    columns.extend(summary.named());
    columns.extend(summary.controls());
    let mut sizes: Vec<u32> = columns.iter().flat_map(|held| held.by_size.keys().copied()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.is_empty() {
        return String::new();
    }
    let titles: Vec<String> = columns.iter().map(|held| title(&held.phase)).collect();
    let mut head = vec!["size"];
    head.extend(titles.iter().map(String::as_str));
    let rows: Vec<Vec<String>> = sizes
        .iter()
        .map(|size| {
            let mut row = vec![size.to_string()];
            row.extend(
                columns.iter().map(|held| held.by_size.get(size).map_or_else(|| "–".to_owned(), rate)),
            );
            row
        })
        .collect();
    format!("<h2>Held-out success by task size</h2>\n{}", table(&head, true, &rows))
}

/// What several samples of each held-out task came to.
pub(crate) fn passes(summary: &RunSummary) -> String {
    if summary.passes.is_empty() {
        return String::new();
    }
    let names: BTreeSet<&String> = summary.passes.values().flat_map(BTreeMap::keys).collect();
    let head: Vec<&str> = ["evaluation"].into_iter().chain(names.iter().map(|name| name.as_str())).collect();
    let rows = summary.passes.iter().map(|(phase, numbers)| {
        let cell =
            |name: &&String| numbers.get(*name).map_or_else(|| "–".to_owned(), |value| percent(*value));
        [title(phase)].into_iter().chain(names.iter().map(cell)).collect()
    });
    format!(
        "<h2>Several samples of each held-out task</h2>\n<p class=\"soft\">pass@k: one of k solves the task. pass^k: all of them \
         do.</p>\n{}",
        table(&head, true, &rows.collect::<Vec<Vec<String>>>())
    )
}

/// Where the time of learning went.
pub(crate) fn time(times: &BTreeMap<String, f64>) -> String {
    let whole: f64 = times.iter().filter(|(part, _)| *part != "tools").map(|(_, seconds)| seconds).sum();
    if whole <= 0.0 {
        return String::new();
    }
    let row = |part: &str, words: &str| {
        let seconds = times.get(part).copied().unwrap_or(0.0);
        vec![words.to_owned(), format!("{seconds:.1} s"), percent(seconds / whole)]
    };
    let rows = [
        row("rollout", "rollout: sampling, worlds and tools"),
        row("tools", "of it inside tools; calls run beside each other"),
        row("reward", "reward and annotators"),
        row("update", "credit and update"),
    ];
    format!(
        "<h2>Where the time went</h2>\n{}",
        table(&["learning by reward", "seconds", "share"], true, &rows)
    )
}

pub(crate) fn cost(summary: &RunSummary) -> String {
    let mut out = String::from("<h2>Cost</h2>\n");
    let mut facts = Vec::new();
    facts.extend(summary.elapsed_ms.map(|ms| format!("{} from start to last event", duration(ms))));
    facts.extend(
        summary
            .tokens_per_s
            .map(|speed| format!("{} tokens per second in the median training step", number(speed))),
    );
    if !facts.is_empty() {
        out.push_str(&format!("<p>{}.</p>\n", facts.join("; ")));
    }
    let total: Cost = summary.costs.values().copied().sum();
    let phases = in_order(&summary.costs).into_iter().map(|(phase, cost)| (phase.to_string(), cost));
    let phases = phases.chain([("all".to_owned(), &total)]);
    // What nothing was spent on needs no column.
    let columns: Vec<&(&str, CostText)> =
        COSTS.iter().filter(|(_, text)| text(&total) != text(&Cost::default())).collect();
    let head: Vec<&str> = ["phase"].into_iter().chain(columns.iter().map(|(name, _)| *name)).collect();
    let rows = phases.map(|(phase, cost)| {
        let cells = columns.iter().map(|(_, text)| text(cost));
        [escape(&phase)].into_iter().chain(cells).collect()
    });
    out.push_str(&table(&head, true, &rows.collect::<Vec<Vec<String>>>()));
    out
}

type CostText = fn(&Cost) -> String;

const COSTS: [(&str, CostText); 11] = [
    ("tokens sampled", |c| c.known_policy_tokens().map_or_else(not_known, count)),
    ("tokens read", |c| if c.tokens_unknown { not_known() } else { count(c.read_tokens) }),
    ("env steps", |c| count(c.env_steps)),
    ("probe steps", |c| count(c.probe_steps)),
    ("tool calls", |c| count(c.tool_calls)),
    ("tool time", |c| c.known_tool_seconds().map_or_else(not_known, |s| format!("{s:.1} s"))),
    ("judge calls", |c| count(c.judge_calls)),
    ("judge tokens", |c| count(c.judge_tokens)),
    ("discarded", |c| count(c.discarded_samples)),
    ("tokens trained", |c| count(c.trained_tokens)),
    ("updates", |c| count(c.updates)),
];

fn not_known() -> String {
    "not known".to_owned()
}

/// What happened to the run.
pub(crate) fn events(summary: &RunSummary) -> String {
    if summary.events.is_empty() {
        return String::new();
    }
    let rows = summary
        .events
        .iter()
        .map(|event| vec![date(event.time_ms), escape(&event.kind), escape(&event.text)]);
    let table = table(&["when", "what", ""], false, &rows.collect::<Vec<_>>());
    format!(
        "<details><summary>What happened to the run ({} events)</summary>{table}</details>\n",
        summary.events.len()
    )
}

/// Phases in the order in which a run goes through them; others, by name, at the end.
fn in_order<T>(phases: &BTreeMap<Phase, T>) -> Vec<(&Phase, &T)> {
    let order = [
        Phase::Warm,
        Phase::eval(When::Before),
        Phase::train(),
        Phase::eval(When::Step),
        Phase::eval(When::After),
    ];
    let mut phases: Vec<(&Phase, &T)> = phases.iter().collect();
    phases.sort_by_key(|(phase, _)| order.iter().position(|known| known == *phase).unwrap_or(order.len()));
    phases
}
