//! The report: one HTML file that needs nothing else, made from the record alone and the same for the same record.

use crate::episode_view::{badge, episode, reward};
use crate::headline::headline;
use crate::html::{date, escape, number};
use crate::specimens::{Pair, Specimens, choose};
use crate::tokens::Vocabulary;
use crate::{MeasureError, RunSummary, browse, tables};
use merit_core::Seed;
use merit_core::stats;
use merit_store::{RunFolder, StoredEpisode};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Writes `report.html` into the run's folder, and `episodes.html` beside it, and says where the report is.
///
/// ```
/// use merit_store::{RunFolder, RunInfo};
/// let home = tempfile::tempdir()?;
/// let info = RunInfo { recipe: "ledger".into(), recipe_hash: "ab12".into(), seed: 7, version: "0.1.0".into(), started_ms: 0 };
/// let run = RunFolder::create(&home.path().join("run"), "", &info)?;
/// let report = merit_measure::write_report(&run)?;
/// assert!(std::fs::read_to_string(report)?.contains("ledger"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_report(run: &RunFolder) -> Result<PathBuf, MeasureError> {
    run.write_file(browse::FILE, browse::render(run)?.as_bytes())?;
    Ok(run.write_report(&render_report(run)?)?)
}

/// The text of the report.
pub fn render_report(run: &RunFolder) -> Result<String, MeasureError> {
    let summary = RunSummary::read(run)?;
    let specimens = choose(run, &Seed::root(summary.info.seed))?;
    let vocabulary = Vocabulary(run.vocabulary()?);
    let title = escape(&summary.info.recipe);
    let body = [
        head(&summary),
        headline(&summary),
        tables::learning_curve(&summary),
        tables::by_size(&summary),
        tables::passes(&summary),
        tables::outcomes(&summary),
        tables::reward_terms(&summary.terms),
        tables::other_series(&summary),
        pairs(&specimens, &vocabulary),
        groups_at_work(&specimens.groups, &vocabulary),
        tables::time(&summary.times),
        tables::cost(&summary),
        data(run)?,
        tables::events(&summary),
        format!(
            "<details><summary>The resolved recipe</summary><pre>{}</pre></details>\n",
            escape(&run.recipe()?)
        ),
    ]
    .concat();
    let style = include_str!("style.css");
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{title} · merit</title>\n<style>\n{style}</style>\n\
         </head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    ))
}

fn head(summary: &RunSummary) -> String {
    let info = &summary.info;
    let hash: String = info.recipe_hash.chars().take(12).collect();
    format!(
        "<h1>{}</h1>\n<p class=\"soft\">seed {} · merit {} · started {} · recipe <code>{}</code></p>\n",
        escape(&info.recipe),
        info.seed,
        escape(&info.version),
        date(info.started_ms),
        escape(&hash)
    )
}

/// Where the numbers and the episodes can be had.
fn data(run: &RunFolder) -> Result<String, MeasureError> {
    let mut csv = String::from("phase,step,name,value%0A");
    for metric in run.metrics()? {
        let (phase, step, name, value) = (metric.phase, metric.step, metric.name, metric.value);
        let plain: String = format!("{phase},{step},{name},{value:?}")
            .replace('%', "%25")
            .replace('#', "%23")
            .replace(' ', "%20");
        let _ = write!(csv, "{}%0A", escape(&plain));
    }
    Ok(format!(
        "<p><a download=\"metrics.csv\" href=\"data:text/csv;charset=utf-8,{csv}\">Every metric as CSV</a> · \
         <a href=\"{}\">Every episode, with filters</a></p>\n",
        browse::FILE
    ))
}

fn pairs(specimens: &Specimens, vocabulary: &Vocabulary) -> String {
    let mut out = String::new();
    if let Some(pair) = &specimens.gained {
        out.push_str("<h2>One held-out task, before and after</h2>\n");
        out.push_str("<p class=\"soft\">Chosen at random by the run's seed, among tasks gained where there are any. Each token the policy chose is a chip; \
             the colour says how unlikely it was: ");
        for (class, text) in
            [("", "90% or more"), ("u1", "below 90%"), ("u2", "50%"), ("u3", "20%"), ("u4", "5%")]
        {
            let _ = write!(out, "<span class=\"key {class}\">{text}</span>");
        }
        out.push_str("</p>\n");
        out.push_str(&side_by_side(pair, vocabulary));
    }
    if let Some(pair) = &specimens.lost {
        out.push_str("<h2>One held-out task that was lost</h2>\n<p class=\"soft\">Solved before training and not after.</p>\n");
        out.push_str(&side_by_side(pair, vocabulary));
    }
    out
}

fn side_by_side(pair: &Pair, vocabulary: &Vocabulary) -> String {
    let task = &pair.after.scored.episode.task;
    let side = |when: &str, stored: &StoredEpisode| {
        format!(
            "<div class=\"card\"><h3>{when} {}</h3>{}</div>\n",
            title(stored),
            episode(stored, vocabulary, 0.0)
        )
    };
    format!(
        "<p class=\"soft\">Task <code>{}</code>, size {}.</p>\n<div class=\"pair\">\n{}{}</div>\n",
        escape(&task.id),
        task.size,
        side("before", &pair.before),
        side("after", &pair.after)
    )
}

fn groups_at_work(groups: &[Vec<StoredEpisode>], vocabulary: &Vocabulary) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let shown: String = groups.iter().map(|members| group(members, vocabulary)).collect();
    format!(
        "<h2>Groups at work</h2>\n<p class=\"soft\">Training episodes from the start and from the end, with the credit their tokens \
         were given: <span class=\"key p4\">more of this</span><span class=\"key n4\">less of this</span></p>\n{shown}"
    )
}

fn group(members: &[StoredEpisode], vocabulary: &Vocabulary) -> String {
    let Some(first) = members.first() else { return String::new() };
    let all =
        members.iter().filter_map(|member| member.credit.as_ref()).flat_map(|credit| &credit.advantages);
    let strongest = all.fold(0.0_f32, |most, advantage| most.max(advantage.abs()));
    let (id, task) = (&first.scored.episode.id, &first.scored.episode.task);
    let mut out = format!(
        "<p class=\"soft\">Step {}, group {}: {} attempts at task <code>{}</code> (size {}), judged against each other.</p>\n",
        id.step,
        id.group,
        members.len(),
        escape(&task.id),
        task.size
    );
    for (at, member) in members.iter().enumerate() {
        let open = if at == 0 { " open" } else { "" };
        let _ = writeln!(
            out,
            "<details class=\"card\"{open}><summary>attempt {} {}</summary>{}{}</details>",
            member.scored.episode.id.member,
            title(member),
            note(member),
            episode(member, vocabulary, strongest)
        );
    }
    out
}

fn title(stored: &StoredEpisode) -> String {
    let turns = match stored.scored.episode.turns.len() {
        1 => "1 turn".to_owned(),
        count => format!("{count} turns"),
    };
    let words = format!("{}, {turns}{}", reward(stored), credit(stored));
    format!("{} <span class=\"soft\">{words}</span>", badge(stored.scored.outcome()))
}

fn credit(stored: &StoredEpisode) -> String {
    let Some(credit) = &stored.credit else { return String::new() };
    let mask = stored.scored.episode.transcript.mask();
    let own: Vec<f64> =
        credit.advantages.iter().zip(mask).filter(|(_, own)| *own).map(|(a, _)| f64::from(*a)).collect();
    stats::mean(&own).map_or_else(String::new, |mean| format!(", mean advantage {}", number(mean)))
}

fn note(stored: &StoredEpisode) -> String {
    let note = stored.credit.as_ref().map_or("", |credit| &credit.note);
    if note.is_empty() { String::new() } else { format!("<p class=\"soft\">{}</p>\n", escape(note)) }
}
