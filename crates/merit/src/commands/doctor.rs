//! `merit doctor`: what this machine gives the sandbox, layer by layer.

use super::Findings;
use crate::cli::tools::Doctor;
use crate::out;
use anyhow::Result;
use merit_sandbox::{LayerStatus, Sandbox, SandboxSettings, probe};
use serde_json::json;

pub(crate) fn run(arguments: &Doctor) -> Result<()> {
    let layers = probe(arguments.python.as_deref())?;
    let settings = SandboxSettings { python: arguments.python.clone(), ..SandboxSettings::default() };
    let started = Sandbox::start(&settings).map(drop);
    let missing: Vec<String> = layers
        .iter()
        .filter(|layer| layer.required && !layer.available)
        .map(|layer| layer.layer.to_string())
        .collect();
    if arguments.json {
        let start = started.as_ref().err().map(ToString::to_string);
        out::line(
            json!({ "layers": layers, "missing": missing, "sandbox": start.is_none(), "why_not": start }),
        )?;
    } else {
        show(&layers)?;
        if started.is_ok() {
            out::line("\nThe sandbox starts: Python programs can be run.")?;
        }
    }
    match started {
        Ok(()) => Ok(()),
        Err(error) => Err(Findings(format!("the sandbox does not start: {error}")).into()),
    }
}

fn show(layers: &[LayerStatus]) -> Result<()> {
    let width = layers.iter().map(|layer| layer.layer.to_string().len()).max().unwrap_or(0);
    for status in layers {
        let mark = match (status.available, status.required) {
            (true, _) => "yes",
            (false, true) => "MISSING",
            (false, false) => "no (optional)",
        };
        let name = status.layer.to_string();
        out::line(format_args!("  {name:width$}  {mark:13}  {}", status.detail))?;
    }
    Ok(())
}
