//! `merit init`: a recipe and tasks to begin with. Nothing is asked and nothing is overwritten.

use super::WrongInput;
use crate::out;
use anyhow::{Context as _, Result, bail};
use merit_core::{Split, TaskLine};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// What is left: name, text, and what it is in words.
type Files = [(&'static str, String, String); 2];

const FIRST: [&str; 3] = [
    "merit rollout recipe.toml --tasks 1   see how a task is done",
    "merit train recipe.toml               train, in less than a minute",
    "merit show runs/my-tasks-1            what happened",
];

pub(crate) fn run(folder: &Path, own: Option<(&Path, &Path)>) -> Result<()> {
    let (files, next) = match own {
        None => (first(), FIRST.map(str::to_owned).to_vec()),
        Some((tasks, model)) => of_ones_own(folder, tasks, model)?,
    };
    if let Some((name, ..)) = files.iter().find(|(name, ..)| folder.join(name).symlink_metadata().is_ok()) {
        let path = folder.join(name);
        return Err(WrongInput(format!(
            "{} is there already, and nothing was written; name another folder, as in `merit init my-tasks`",
            path.display()
        ))
        .into());
    }
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for (name, text, what) in files {
        let path = folder.join(name);
        write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
        let shown = path.strip_prefix(".").unwrap_or(&path);
        out::line(format_args!("wrote {}: {what}", shown.display()))?;
    }
    let place = if folder == Path::new(".") { String::new() } else { format!(", in {}", folder.display()) };
    out::line(format_args!("\nnext{place}:"))?;
    next.iter().try_for_each(|command| Ok(out::line(format_args!("  {command}"))?))
}

/// Ten tasks for a small decoder made on the spot.
fn first() -> Files {
    let what = [
        "world, model, reward and budget, with comments",
        "ten tasks, one a line; three of them are held out",
    ];
    [
        ("recipe.toml", include_str!("recipe.toml").to_owned(), what[0].to_owned()),
        ("tasks.jsonl", include_str!("tasks.jsonl").to_owned(), what[1].to_owned()),
    ]
}

/// Questions and answers of somebody's own, for a language model of their own.
fn of_ones_own(folder: &Path, tasks: &Path, model: &Path) -> Result<(Files, Vec<String>)> {
    let wrong = |path: &Path, why: String| WrongInput(format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(tasks).map_err(|error| wrong(tasks, error.to_string()))?;
    let mut count = 0_usize;
    if text.trim_start_matches('\u{feff}').trim_start().starts_with('[') {
        bail!(wrong(tasks, "it is one JSON array; write one object a line instead".into()));
    }
    for (number, line) in
        (1..).zip(text.trim_start_matches('\u{feff}').lines()).filter(|(_, line)| !line.trim().is_empty())
    {
        let line = TaskLine::read(line).map_err(|why| wrong(tasks, format!("line {number}: {why}")))?;
        if line.answer.is_none() {
            bail!(wrong(tasks, format!("line {number} has no `answer`; for other rewards write a recipe")));
        }
        count += 1;
    }
    if count == 0 {
        bail!(wrong(tasks, "there is no task in it".into()));
    }
    let model = model.canonicalize().map_err(|error| wrong(model, error.to_string()))?;
    merit_formats::ModelFiles::open(&model).map_err(|error| wrong(&model, error.to_string()))?;
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = whole.file_name().map_or_else(|| "my-tasks".into(), |name| name.to_string_lossy());
    let name = recipe_name(&name);
    let model = model.display().to_string();
    // The model's path comes last: it may hold any words.
    let recipe = include_str!("own.toml")
        .replace("NAME", &name)
        .replace("COUNT", &count.to_string())
        .replace("\"MODEL\"", &toml::Value::String(model.clone()).to_string());
    let text = with_held_out(text, tasks)?;
    let model = quoted(&model);
    let next = vec![
        format!("merit eval {model} --on recipe.toml   how good it is before anything is learned"),
        "merit train recipe.toml   learn: first the form of an answer, then by reward".to_owned(),
        format!("merit eval {model} runs/{name}-1 --on recipe.toml   before and after, with intervals"),
        format!(
            "merit export runs/{name}-1 --as messages --solved --phase train --out solved.jsonl   what was solved, as data"
        ),
    ];
    let what =
        ["world, model, reward and budget, with comments".to_owned(), format!("{count} tasks, one a line")];
    let [about_recipe, about_tasks] = what;
    Ok(([("recipe.toml", recipe, about_recipe), ("tasks.jsonl", text, about_tasks)], next))
}

/// The name of a folder as recipes are named.
fn recipe_name(folder: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = folder.chars().map(plain).collect();
    match name.trim_matches('-') {
        "" => "my-tasks".to_owned(),
        name => name.to_owned(),
    }
}

/// The tasks; with one in four held out by name where chance leaves none of so few to measure on, or none to learn from.
fn with_held_out(text: String, path: &Path) -> Result<String> {
    let file = toml::Value::String(path.display().to_string());
    let world = merit_env::read_world(&format!(
        "type = \"tasks\"\nfile = {file}\nheld_out = 0.25\ntools = []\ncalls = \"hermes\""
    ))?;
    if world.look().is_ok_and(|look| look.held_out != Some(0)) {
        return Ok(text);
    }
    let lines: Vec<&str> =
        text.trim_start_matches('\u{feff}').lines().filter(|line| !line.trim().is_empty()).collect();
    let held = |at: usize| at % 4 == (lines.len() - 1).min(3);
    let mut marked = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let mut line = TaskLine::read(line).map_err(WrongInput)?;
        line.split.get_or_insert(if held(at) { Split::HeldOut } else { Split::Train });
        marked.push(line);
    }
    for split in [Split::Train, Split::HeldOut] {
        if !marked.iter().any(|line| line.split == Some(split)) {
            let why = format!(
                "{}: no line would be of the split `{}`; some tasks are learned from and others measured on, so give two at least",
                path.display(),
                split.name()
            );
            bail!(WrongInput(why));
        }
    }
    let lines: Vec<String> = marked.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    Ok(lines.join("\n") + "\n")
}

/// A path as a shell reads it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// A new file; one that has come in the meantime is left alone.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    File::create_new(path)?.write_all(text.as_bytes())
}
