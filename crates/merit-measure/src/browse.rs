//! All episodes of a run on one page, to be filtered, sorted and read: beside the report, and as self-contained as it is.

use crate::MeasureError;
use crate::html::escape;
use merit_core::Role;
use merit_store::{EpisodeFilter, RunFolder, StoredEpisode};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The name of the page in the run's folder.
pub(crate) const FILE: &str = "episodes.html";

/// Bytes of conversations that a page carries; later episodes have their numbers only.
const MOST_BYTES: usize = 24 << 20;

pub(crate) fn render(run: &RunFolder) -> Result<String, MeasureError> {
    let info = run.info()?;
    let title = format!("Episodes of {}, seed {}", escape(&info.recipe), info.seed);
    let (style, script) = (include_str!("style.css"), include_str!("browse.js"));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>{title} · merit</title>\n\
         <style>\n{style}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<p><a href=\"report.html\">The report</a></p>\n\
         <form id=\"filter\">\n<select id=\"phase\"><option value=\"\">every phase</option></select>\n\
         <select id=\"outcome\"><option value=\"\">every outcome</option></select>\n\
         <label>steps <input id=\"from\" type=\"number\" min=\"0\" size=\"6\"> to <input id=\"to\" type=\"number\" min=\"0\" size=\"6\"></label>\n\
         <input id=\"text\" type=\"search\" placeholder=\"words of a task or an episode\" size=\"32\">\n\
         <select id=\"order\"><option value=\"\">as they were played</option><option value=\"reward\">best reward first</option>\
         <option value=\"-reward\">worst reward first</option><option value=\"-turns\">most turns first</option>\
         <option value=\"-tokens\">most tokens first</option></select>\n</form>\n<p class=\"soft\" id=\"count\"></p>\n\
         <div id=\"list\"></div>\n</main>\n<script type=\"application/json\" id=\"data\">["
    );
    let (mut room, mut first) = (MOST_BYTES, true);
    run.each_episode(&EpisodeFilter::default(), |stored| {
        if !std::mem::take(&mut first) {
            page.push(',');
        }
        // A text may hold anything, also the end of a script.
        page.push_str(&row(&stored, &mut room).to_string().replace('<', "\\u003c"));
        Ok::<_, MeasureError>(())
    })?;
    let _ = write!(page, "]</script>\n<script>\n{script}</script>\n</body>\n</html>\n");
    Ok(page)
}

fn row(stored: &StoredEpisode, room: &mut usize) -> Value {
    let (scored, episode) = (&stored.scored, &stored.scored.episode);
    let mut row = json!({
        "id": episode.id.to_string(), "phase": episode.id.phase.to_string(), "step": episode.id.step,
        "task": episode.task.id, "size": episode.task.size, "outcome": scored.outcome().name(),
        "reward": scored.reward(), "turns": episode.turns.len(), "tokens": episode.cost.policy_tokens,
    });
    let said: Vec<(&str, &str)> = episode
        .transcript
        .segments()
        .iter()
        .map(|segment| {
            let who = if segment.role == Role::Policy { "policy" } else { segment.role.name() };
            (who, segment.text.as_str())
        })
        .collect();
    let bytes: usize = said.iter().map(|(_, text)| text.len() + 16).sum();
    if bytes <= *room {
        *room -= bytes;
        row["said"] = json!(said);
    }
    row
}
