//! `merit import`: episodes other people recorded, into a folder that can be shown and scored.

use super::WrongInput;
use crate::cli::rewards::Import;
use crate::out;
use anyhow::{Result, bail};
use merit_core::printable::{count, piece};
use merit_import::{ImportError, ImportOptions, import_into, read_file};
use serde_json::json;
use std::path::PathBuf;

/// Lines shown of each kind of oddity; the folder keeps them all.
const SHOWN: usize = 5;

pub(crate) fn run(arguments: &Import) -> Result<()> {
    let options = ImportOptions {
        world: arguments.world.clone(),
        allow_skipped: arguments.allow_skipped,
        error_prefixes: arguments.error_prefix.clone(),
        solved_at: arguments.solved_at,
        ..ImportOptions::default()
    };
    let folder = folder(arguments)?;
    let imported = read_file(&arguments.file, &arguments.format, &options).map_err(with_the_way_out)?;
    let source = arguments.file.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let found = imported.found.to_string();
    let remarks: Vec<String> =
        imported.remarks.iter().map(|r| format!("line {}: {}", r.line, r.what)).collect();
    let skipped: Vec<String> =
        imported.skipped.iter().map(|s| format!("line {}: {}", s.line, s.why)).collect();
    let left_out: Vec<String> = imported
        .left_out
        .iter()
        .map(|(field, n)| format!("field `{field}` of {n} entries has no place"))
        .collect();
    let format = imported.found.format;
    let episodes = imported.episodes.len();
    import_into(&folder, imported, &source, env!("CARGO_PKG_VERSION"), now_ms())?;
    let shown = folder.display();
    if arguments.json {
        return Ok(out::line(json!({
            "folder": shown.to_string(), "format": format, "episodes": episodes,
            "skipped": skipped, "remarks": remarks, "left_out": left_out,
        }))?);
    }
    out::line(format_args!("{}: {found}", arguments.file.display()))?;
    let are = if episodes == 1 { "is" } else { "are" };
    out::line(format_args!("{} {are} in {shown}", count(episodes, "episode")))?;
    for (what, lines) in [("skipped", skipped), ("odd", remarks), ("left out", left_out)] {
        for line in lines.iter().take(SHOWN) {
            out::line(format_args!("  {what}: {}", piece(line)))?;
        }
        if lines.len() > SHOWN {
            out::line(format_args!("  {what}: {} more, among the folder's events", lines.len() - SHOWN))?;
        }
    }
    out::line(format_args!(
        "look at them with `merit show {shown}`, score them with `merit score REWARD {shown}`"
    ))?;
    Ok(())
}

/// The error, with the argument that gets around it.
fn with_the_way_out(error: ImportError) -> anyhow::Error {
    match error {
        ImportError::Skipped { .. } => WrongInput(format!("{error} with `--allow-skipped`")).into(),
        other => other.into(),
    }
}

fn folder(arguments: &Import) -> Result<PathBuf> {
    if let Some(folder) = &arguments.out {
        if folder.exists() && !folder.is_dir() {
            bail!(WrongInput(format!("{} is a file; choose a new folder", folder.display())));
        }
        return Ok(folder.clone());
    }
    let stem = arguments.file.file_stem().map(|s| s.to_string_lossy().into_owned());
    let stem = stem.ok_or_else(|| WrongInput(format!("`{}` names no file", arguments.file.display())))?;
    Ok(PathBuf::from("imports").join(stem))
}

/// Unix time in milliseconds, for people.
fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
