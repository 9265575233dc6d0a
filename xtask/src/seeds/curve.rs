//! Learning curves as a picture: one thin line a seed, one thick line their mean.

use super::mean;
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::fmt::Write as _;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 44.0;
const EDGE: f64 = 14.0;
const BELOW: f64 = 34.0;

/// An SVG of `success_by_step` of every result.
pub(super) fn draw(results: &[Value]) -> Result<String> {
    let curves = results.iter().map(curve).collect::<Result<Vec<_>>>()?;
    let steps = curves.iter().map(Vec::len).min().context("no run")?;
    let at = |step: usize, success: f64| {
        let across = step as f64 / steps.saturating_sub(1).max(1) as f64;
        let (x, y) =
            (LEFT + across * (WIDTH - LEFT - EDGE), HEIGHT - BELOW - success * (HEIGHT - BELOW - EDGE));
        format!("{x:.1},{y:.1}")
    };
    let line = |curve: &[f64]| {
        let points: Vec<String> = curve.iter().take(steps).enumerate().map(|(i, v)| at(i, *v)).collect();
        points.join(" ")
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for tenth in [0, 25, 50, 75, 100] {
        let y = HEIGHT - BELOW - f64::from(tenth) / 100.0 * (HEIGHT - BELOW - EDGE);
        writeln!(svg, "<path d=\"M{LEFT} {y:.1}H{}\" stroke=\"#ddd\"/>", WIDTH - EDGE)?;
        writeln!(svg, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tenth}%</text>", LEFT - 6.0, y + 4.0)?;
    }
    for curve in &curves {
        writeln!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"#9bb8d3\"/>", line(curve))?;
    }
    let means: Vec<f64> =
        (0..steps).map(|i| mean(&curves.iter().map(|curve| curve[i]).collect::<Vec<_>>())).collect();
    writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f4e79\" stroke-width=\"3\"/>",
        line(&means)
    )?;
    let below = HEIGHT - 12.0;
    writeln!(svg, "<text x=\"{LEFT}\" y=\"{below}\">step 1</text>")?;
    writeln!(
        svg,
        "<text x=\"{}\" y=\"{below}\" text-anchor=\"end\">step {steps}</text>\n</svg>",
        WIDTH - EDGE
    )?;
    Ok(svg)
}

fn curve(result: &Value) -> Result<Vec<f64>> {
    let steps = result["success_by_step"].as_array().context("a run without `success_by_step`")?;
    steps.iter().map(|v| v.as_f64().context("a step without its success")).collect()
}
