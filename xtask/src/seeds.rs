//! `cargo xtask seeds [SEEDS] [RECIPE] [--from FOLDER]`: a recipe over several seeds, recorded with its hash.

mod curve;

use crate::{root, run};
use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;

/// Trains with every seed, one after the other, and writes `docs/results/RECIPE.{jsonl,md,svg}`. `--from FOLDER` takes what
/// `merit train RECIPE --seed SEED --json` printed into `FOLDER/RECIPE-SEED.json` instead, perhaps on another machine.
pub(crate) fn run_seeds(arguments: &[&str]) -> Result<()> {
    let (arguments, recorded) = match arguments {
        [rest @ .., "--from", folder] => (rest, Some(Path::new(folder))),
        all => (all, None),
    };
    let (seeds, recipe) = match arguments {
        [] => ("5", "ledger-tools"),
        [seeds] => (*seeds, "ledger-tools"),
        [seeds, recipe] => (*seeds, *recipe),
        _ => bail!("usage: cargo xtask seeds [N | FIRST-LAST] [RECIPE] [--from FOLDER]"),
    };
    if recorded.is_none() {
        run("cargo", &["build", "--release", "--locked", "--package", "merit"])?;
    }
    let folder = root().join("docs/results");
    std::fs::create_dir_all(&folder)?;
    let mut results = Vec::new();
    for seed in range(seeds)? {
        let said = match recorded {
            Some(folder) => {
                let file = folder.join(format!("{recipe}-{seed}.json"));
                std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?
            }
            None => train(recipe, seed)?,
        };
        let result = result(&said).with_context(|| format!("seed {seed}"))?;
        println!("seed {seed}: {result}");
        results.push(result);
    }
    let lines: String = results.iter().map(|r| format!("{r}\n")).collect();
    std::fs::write(folder.join(format!("{recipe}.jsonl")), lines)?;
    std::fs::write(folder.join(format!("{recipe}.svg")), curve::draw(&results)?)?;
    let page = page(recipe, seeds, &results)?;
    std::fs::write(folder.join(format!("{recipe}.md")), &page)?;
    println!("{page}");
    Ok(())
}

/// `5` is the seeds 1 to 5, `2-7` the seeds 2 to 7.
fn range(seeds: &str) -> Result<RangeInclusive<u64>> {
    let (first, last) = seeds.split_once('-').unwrap_or(("1", seeds));
    let number = |text: &str| text.parse::<u64>().with_context(|| format!("`{text}` is no seed"));
    let range = number(first)?..=number(last)?;
    if range.is_empty() {
        bail!("`{seeds}` holds no seed");
    }
    Ok(range)
}

fn train(recipe: &str, seed: u64) -> Result<String> {
    let folder = root().join(format!("target/seeds/{recipe}-{seed}"));
    let _ = std::fs::remove_dir_all(&folder);
    let output = Command::new(root().join("target/release/merit"))
        .args(["train", recipe, "--json", "--seed", &seed.to_string(), "--run"])
        .arg(&folder)
        .current_dir(root())
        .output()
        .context("cannot start merit")?;
    if !output.status.success() {
        bail!("seed {seed} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).context("merit printed something that is not UTF-8")
}

/// What a run came to, and its success step by step.
fn result(said: &str) -> Result<Value> {
    let last = said.lines().last().context("merit printed nothing")?;
    let mut result: Value = serde_json::from_str(last).context("the last line is not JSON")?;
    let fields = result.as_object_mut().context("the last line is not an object")?;
    // Where the run lay says nothing to anybody else.
    fields.retain(|name, _| name != "run" && name != "report");
    let mut curve = Vec::new();
    for line in said.lines() {
        let event: Value = serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))?;
        if event["event"] == "step" && event["arm"] == "main" {
            curve.push(event["success"].clone());
        }
    }
    fields.insert("success_by_step".into(), json!(curve));
    Ok(result)
}

fn page(recipe: &str, seeds: &str, results: &[Value]) -> Result<String> {
    let number =
        |result: &Value, key: &str| result[key].as_f64().with_context(|| format!("no `{key}` in {result}"));
    let mut page = format!("# `{recipe}` over {} seeds\n\n", results.len());
    let hash = results.first().and_then(|r| r["recipe_hash"].as_str()).unwrap_or("?");
    writeln!(
        page,
        "Recipe hash `{hash}`; made by `cargo xtask seeds {seeds} {recipe}`; raw lines beside this file.\n"
    )?;
    let controls: Vec<String> = results
        .first()
        .and_then(|r| r["controls"].as_object())
        .map_or_else(Vec::new, |c| c.keys().cloned().collect());
    let names: String = controls.iter().map(|name| format!(" {name} |")).collect();
    writeln!(page, "| seed | held-out before (no RL) | held-out after |{names} seconds |")?;
    writeln!(page, "|---|---|---|{}---|", "---|".repeat(controls.len()))?;
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); 3 + controls.len()];
    for result in results {
        let mut row = vec![number(result, "held_out_before")?, number(result, "held_out_after")?];
        for control in &controls {
            row.push(result["controls"][control].as_f64().context("a control without a number")?);
        }
        row.push(number(result, "train_seconds")?);
        columns.iter_mut().zip(&row).for_each(|(column, value)| column.push(*value));
        writeln!(page, "| {} |{}", result["seed"], cells(&row))?;
    }
    for (name, pick) in [("mean", mean as fn(&[f64]) -> f64), ("sd", sd)] {
        let row: Vec<f64> = columns.iter().map(|column| pick(column)).collect();
        writeln!(page, "| {name} |{}", cells(&row))?;
    }
    writeln!(
        page,
        "\nSuccess of the sampled training episodes, step by step; a line is a seed, the thick one their mean:\n"
    )?;
    writeln!(page, "![Success by training step]({recipe}.svg)")?;
    Ok(page)
}

fn cells(row: &[f64]) -> String {
    let (last, rates) = row.split_last().expect("a row ends with its seconds");
    let rates: String = rates.iter().map(|rate| format!(" {:.1}% |", rate * 100.0)).collect();
    format!("{rates} {last:.0} |")
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn sd(values: &[f64]) -> f64 {
    let m = mean(values);
    (values.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0).max(1.0)).sqrt()
}
