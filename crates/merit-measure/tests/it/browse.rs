//! The page with all episodes: nothing is missing, nothing of a text is obeyed, and its filters do what they say.

use crate::synthetic::finished_run;
use merit_measure::write_report;
use merit_store::{EpisodeFilter, RunFolder};
use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The page beside the report, and the episodes in it.
fn page(run: &RunFolder) -> (String, Vec<Value>) {
    let report = write_report(run).unwrap();
    assert!(std::fs::read_to_string(&report).unwrap().contains("href=\"episodes.html\""));
    let page = std::fs::read_to_string(report.with_file_name("episodes.html")).unwrap();
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap().to_owned();
    (page, serde_json::from_str(&data).unwrap())
}

#[test]
fn every_episode_is_there_with_its_numbers_and_words() {
    let home = tempfile::tempdir().unwrap();
    let run = finished_run(home.path(), 7);
    let (_, rows) = page(&run);
    let stored = run.episodes(&EpisodeFilter::default()).unwrap();
    assert_eq!(rows.len(), stored.len());
    for one in &stored {
        let id = one.scored.episode.id.to_string();
        let row = rows.iter().find(|row| row["id"] == id.as_str()).unwrap();
        assert_eq!(row["reward"].as_f64(), one.scored.reward(), "{id}");
        assert_eq!(row["outcome"], one.scored.outcome().name());
        let segments = one.scored.episode.transcript.segments();
        let said: Vec<&str> =
            row["said"].as_array().unwrap().iter().map(|pair| pair[1].as_str().unwrap()).collect();
        assert_eq!(said, segments.iter().map(|segment| segment.text.as_str()).collect::<Vec<_>>(), "{id}");
    }
}

#[test]
fn the_page_needs_nothing_from_outside() {
    let home = tempfile::tempdir().unwrap();
    let (page, _) = page(&finished_run(home.path(), 3));
    for outside in ["http:", "https:", "src=", "<link", "@import", "url(", "<iframe", "fetch("] {
        assert!(!page.contains(outside), "the page contains {outside}");
    }
    // The data, and one script.
    assert_eq!(page.matches("<script").count(), 2);
}

/// What the script on the page chooses, by their ids.
fn chosen(page: &str, filter: &str) -> Option<Vec<String>> {
    let script = page.rsplit("<script>").next().unwrap().split("</script>").next().unwrap();
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let ask = format!(
        "{script}\nconst rows = {data};\nconst none = {{ phase: '', outcome: '', text: '', order: '', from: null, to: null }};\n\
         console.log(JSON.stringify(chosen(rows, {{ ...none, ...{filter} }}).map((row) => row.id)));\n"
    );
    let node = Command::new("node").arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut node) = node else {
        merit_testing::skip(merit_testing::NODE, "`node` cannot be started");
        return None;
    };
    node.stdin.take().unwrap().write_all(ask.as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn filters_leave_what_they_say_in_the_order_they_say() {
    let home = tempfile::tempdir().unwrap();
    let (page, rows) = page(&finished_run(home.path(), 7));
    let Some(all) = chosen(&page, "{}") else { return };
    let ids = |keep: &dyn Fn(&Value) -> bool| -> Vec<String> {
        rows.iter().filter(|row| keep(row)).map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(all, ids(&|_| true));
    let solved = chosen(&page, "{ phase: 'train', outcome: 'solved', from: 5, to: 9 }").unwrap();
    let within = |row: &Value| (5..=9).contains(&row["step"].as_u64().unwrap());
    assert_eq!(solved, ids(&|row| row["phase"] == "train" && row["outcome"] == "solved" && within(row)));
    assert!(!solved.is_empty());
    let task = rows[0]["task"].as_str().unwrap();
    let found = chosen(&page, &format!("{{ text: '{task}' }}")).unwrap();
    assert!(found.contains(&rows[0]["id"].as_str().unwrap().to_owned()) && found.len() < rows.len());
    for (order, best_first) in [("reward", true), ("-reward", false)] {
        let sorted = chosen(&page, &format!("{{ order: '{order}' }}")).unwrap();
        let rewards = sorted
            .iter()
            .map(|id| rows.iter().find(|row| row["id"] == id.as_str()).unwrap()["reward"].as_f64());
        let rewards: Vec<Option<f64>> = rewards.collect();
        let with: Vec<f64> = rewards.iter().map_while(|reward| *reward).collect();
        assert!(with.is_sorted_by(|a, b| if best_first { a >= b } else { a <= b }), "{order}");
        assert!(rewards[with.len()..].iter().all(Option::is_none), "{order}: what has no reward comes last");
    }
}
