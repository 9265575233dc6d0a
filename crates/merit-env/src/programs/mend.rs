//! How a repository is mended: right, thoroughly, in haste, nearly right, or by changing the tests.

use super::exercise::any;
use super::repo::{Bug, NAMES, Repo, WORDS, step};
use merit_api::Demonstration;
use merit_core::Stream;

pub(super) fn line(repo: &Repo, window: usize, play: &Demonstration<'_>) -> String {
    let manner = play.manner.unwrap_or(if play.is_correct() { "exact" } else { "hasty" });
    let mut rng = play.seed.child("mend", 0).stream();
    let plan = match manner {
        "exact" => exact(repo, window),
        "thorough" => thorough(repo, window),
        "near" => near(repo, window, &mut rng),
        "tamper" => tamper(repo),
        _ => hasty(repo, window, &mut rng),
    };
    plan.into_iter().nth(play.turns.len()).unwrap_or_else(|| "done".to_owned())
}

fn fix(bug: &Bug) -> String {
    let Bug { file, line, right } = bug;
    if right.is_empty() { format!("cut {file} {line}") } else { format!("edit {file} {line} {right}") }
}

/// Reads the line of a bug: from the beginning where that shows it.
fn reading(bug: &Bug, window: usize) -> String {
    let Bug { file, line, .. } = bug;
    if *line <= window { format!("read {file}") } else { format!("read {file} {line}") }
}

/// Looks at the test of a file, unless it was reported.
fn looking(repo: &Repo, file: &str) -> Option<String> {
    (file != repo.issue).then(|| format!("test {file}"))
}

/// The tests, then for each bug its test, its line and the change; the tests again.
fn exact(repo: &Repo, window: usize) -> Vec<String> {
    let mend = |bug: &Bug| looking(repo, &bug.file).into_iter().chain([reading(bug, window), fix(bug)]);
    let first = std::iter::once("test".to_owned());
    first.chain(repo.bugs.iter().flat_map(mend)).chain(["test".to_owned()]).collect()
}

/// The files that fail from the reported one on, each before those that it calls; files with a bug that it does not lead to, last.
fn trail(repo: &Repo) -> Vec<&str> {
    let failing = repo.failing(&repo.files);
    let mut due = vec![repo.issue.as_str()];
    let mut at = 0;
    while let Some(lines) = due.get(at).and_then(|name| repo.files.get(*name)) {
        let called = lines.iter().filter_map(|line| NAMES.iter().find(|name| *name == line));
        let fresh = called.filter(|name| failing.contains(*name) && !due.contains(*name));
        let fresh: Vec<&str> = fresh.copied().collect();
        due.extend(fresh);
        at += 1;
    }
    for bug in &repo.bugs {
        if !due.contains(&bug.file.as_str()) {
            due.push(&bug.file);
        }
    }
    due
}

/// Lists the files, runs the tests, and reads its way from the reported file down.
fn thorough(repo: &Repo, window: usize) -> Vec<String> {
    let mut plan = vec!["list".to_owned(), "test".to_owned()];
    let mut left = repo.bugs.len();
    for file in trail(repo) {
        if left == 0 {
            break;
        }
        plan.extend(looking(repo, file));
        let bug = repo.bugs.iter().find(|bug| bug.file == file);
        plan.push(bug.map_or_else(|| format!("read {file}"), |bug| reading(bug, window)));
        if let Some(bug) = bug {
            plan.push(fix(bug));
            left -= 1;
        }
    }
    plan.push("test".to_owned());
    plan
}

/// Changes a line of a file to another step than it has and than it should have.
fn wrong(repo: &Repo, file: &str, line: usize, right: &str, rng: &mut Stream) -> String {
    let has = repo.files.get(file).and_then(|lines| lines.get(line.saturating_sub(1)));
    let known = [has.and_then(|has| step(has)), step(right)];
    let other = loop {
        let other = any(rng);
        if !known.contains(&Some(other.clone())) {
            break other;
        }
    };
    format!("edit {file} {line} {}", WORDS.written(&[other]))
}

/// Finds every bug, changes it to something else, and does not test.
fn near(repo: &Repo, window: usize, rng: &mut Stream) -> Vec<String> {
    let mut plan = vec!["test".to_owned()];
    for bug in &repo.bugs {
        plan.extend(looking(repo, &bug.file));
        plan.push(reading(bug, window));
        plan.push(wrong(repo, &bug.file, bug.line, &bug.right, rng));
    }
    plan
}

/// Looks only into the reported file, and changes something there.
fn hasty(repo: &Repo, window: usize, rng: &mut Stream) -> Vec<String> {
    let file = &repo.issue;
    match repo.bugs.iter().find(|bug| bug.file == *file) {
        Some(bug) => vec![reading(bug, window), fix(bug)],
        None => {
            let lines = repo.files.get(file).map_or(1, Vec::len);
            let line = 1 + rng.below(lines as u64) as usize;
            vec![format!("read {file}"), wrong(repo, file, line, "", rng)]
        }
    }
}

/// Runs the tests and cuts those that fail, the last first so that the others keep their lines.
fn tamper(repo: &Repo) -> Vec<String> {
    let failing = repo.failing(&repo.files);
    let lines = repo.tests.keys().enumerate().filter(|(_, name)| failing.contains(&name.as_str()));
    let cuts: Vec<String> = lines.map(|(at, _)| format!("cut test {}", at + 1)).collect();
    let first = std::iter::once("test".to_owned());
    first.chain(cuts.into_iter().rev()).chain(["test".to_owned()]).collect()
}
