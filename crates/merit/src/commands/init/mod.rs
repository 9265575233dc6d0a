//! `merit init`: a recipe and ten tasks to begin with. Nothing is asked and nothing is overwritten.

use super::WrongInput;
use crate::out;
use anyhow::{Context as _, Result};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// What is left: name, text, and what it is in words.
const FILES: [(&str, &str, &str); 2] = [
    ("recipe.toml", include_str!("recipe.toml"), "world, model, reward and budget, with comments"),
    ("tasks.jsonl", include_str!("tasks.jsonl"), "ten tasks, one a line; three of them are held out"),
];

const NEXT: [&str; 3] = [
    "merit rollout recipe.toml --tasks 1   see how a task is done",
    "merit train recipe.toml               train, in less than a minute",
    "merit show runs/my-tasks-1            what happened",
];

pub(crate) fn run(folder: &Path) -> Result<()> {
    if let Some((name, ..)) = FILES.iter().find(|(name, ..)| folder.join(name).symlink_metadata().is_ok()) {
        let path = folder.join(name);
        return Err(WrongInput(format!(
            "{} is there already, and nothing was written; name another folder, as in `merit init my-tasks`",
            path.display()
        ))
        .into());
    }
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for (name, text, what) in FILES {
        let path = folder.join(name);
        write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        let shown = path.strip_prefix(".").unwrap_or(&path);
        out::line(format_args!("wrote {}: {what}", shown.display()))?;
    }
    let place = if folder == Path::new(".") { String::new() } else { format!(", in {}", folder.display()) };
    out::line(format_args!("\nnext{place}:"))?;
    NEXT.iter().try_for_each(|command| Ok(out::line(format_args!("  {command}"))?))
}

/// A new file; one that has come in the meantime is left alone.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    File::create_new(path)?.write_all(text.as_bytes())
}
