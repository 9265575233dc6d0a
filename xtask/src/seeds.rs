//! `cargo xtask seeds [N] [RECIPE]`: a recipe over N seeds, recorded with its hash.

use crate::{root, run};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::fmt::Write as _;
use std::process::Command;

/// Trains with seeds 1..=N one after the other and writes `docs/results/RECIPE.{jsonl,md}`.
pub(crate) fn run_seeds(arguments: &[&str]) -> Result<()> {
    let count: u64 = arguments.first().map_or(Ok(5), |n| n.parse()).context("N must be a number")?;
    let recipe = arguments.get(1).copied().unwrap_or("ledger-tools");
    run("cargo", &["build", "--release", "--locked", "--package", "merit"])?;
    let folder = root().join("docs/results");
    std::fs::create_dir_all(&folder)?;
    let mut results = Vec::new();
    for seed in 1..=count {
        let result = train(recipe, seed)?;
        println!("seed {seed}: {result}");
        results.push(result);
    }
    let lines: String = results.iter().map(|r| format!("{r}\n")).collect();
    std::fs::write(folder.join(format!("{recipe}.jsonl")), lines)?;
    let page = page(recipe, &results)?;
    std::fs::write(folder.join(format!("{recipe}.md")), &page)?;
    println!("{page}");
    Ok(())
}

fn train(recipe: &str, seed: u64) -> Result<Value> {
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
    let text = String::from_utf8(output.stdout).context("merit printed something that is not UTF-8")?;
    let last = text.lines().last().context("merit printed nothing")?;
    let mut result: Value = serde_json::from_str(last).context("the last line is not JSON")?;
    let fields = result.as_object_mut().context("the last line is not an object")?;
    // Where the run lay says nothing to anybody else.
    fields.retain(|name, _| name != "run" && name != "report");
    Ok(result)
}

fn page(recipe: &str, results: &[Value]) -> Result<String> {
    let number =
        |result: &Value, key: &str| result[key].as_f64().with_context(|| format!("no `{key}` in {result}"));
    let mut page = format!("# `{recipe}` over {} seeds\n\n", results.len());
    let hash = results.first().and_then(|r| r["recipe_hash"].as_str()).unwrap_or("?");
    writeln!(
        page,
        "Recipe hash `{hash}`; made by `cargo xtask seeds {} {recipe}`; raw lines beside this file.\n",
        results.len()
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
