//! Curves of several arms over a cost axis: the mean of the seeds as a line, their spread as a band, ends as points.

use merit_measure::html::{escape, number};
use merit_studies::CellRecord;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// One arm in a plot.
pub(crate) struct Series<'a> {
    pub(crate) arm: &'a str,
    /// The arm's place in the palette.
    pub(crate) colour: usize,
    pub(crate) records: Vec<&'a CellRecord>,
}

/// An arm's colour, its name, and the points of every seed.
type Line<'a> = (usize, &'a str, Vec<Vec<(f64, f64)>>);

const SIZE: (f64, f64) = (460.0, 240.0);
const LEFT: f64 = 52.0;
const TOP: f64 = 10.0;
const RIGHT: f64 = 12.0;
const BOTTOM: f64 = 32.0;
/// Places along the axis at which the seeds are averaged.
const PLACES: usize = 40;
const PALETTE: [&str; 8] =
    ["#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2", "#be185d", "#525252"];

pub(crate) fn colour(at: usize) -> &'static str {
    PALETTE[at % PALETTE.len()]
}

/// One curve over one axis. Absent: fewer than two points say what was spent there.
pub(crate) fn plot(curve: &str, axis: &str, series: &[Series<'_>]) -> Option<String> {
    let lines: Vec<Line<'_>> = series
        .iter()
        .map(|one| (one.colour, one.arm, one.records.iter().map(|r| along(r, curve, axis)).collect()))
        .collect();
    let every = || lines.iter().flat_map(|line| line.2.iter().flatten());
    let (x0, x1) = span(every().map(|point| point.0))?;
    let (y0, y1) = span(every().map(|point| point.1))?;
    if x1 <= x0 {
        return None;
    }
    let (y0, y1) = if y1 > y0 { (y0, y1) } else { (y0 - 0.5, y1 + 0.5) };
    let x = |value: f64| LEFT + (value - x0) / (x1 - x0) * (SIZE.0 - LEFT - RIGHT);
    let y = |value: f64| TOP + (1.0 - (value - y0) / (y1 - y0)) * (SIZE.1 - TOP - BOTTOM);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} over {}\">",
        SIZE.0,
        SIZE.1,
        escape(curve),
        escape(axis)
    );
    for part in 0..=4 {
        let value = y0 + (y1 - y0) * f64::from(part) / 4.0;
        let at = y(value);
        let right = SIZE.0 - RIGHT;
        let _ =
            write!(svg, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>");
        let (left, low) = (LEFT - 6.0, at + 3.5);
        let _ = write!(svg, "<text x=\"{left}\" y=\"{low:.1}\" text-anchor=\"end\">{}</text>", number(value));
        let across = x0 + (x1 - x0) * f64::from(part) / 4.0;
        let (at, low) = (x(across), SIZE.1 - 18.0);
        let _ =
            write!(svg, "<text x=\"{at:.1}\" y=\"{low}\" text-anchor=\"middle\">{}</text>", number(across));
    }
    let (middle, low) = ((LEFT + SIZE.0 - RIGHT) / 2.0, SIZE.1 - 4.0);
    let _ = write!(svg, "<text x=\"{middle}\" y=\"{low}\" text-anchor=\"middle\">{}</text>", escape(axis));
    for (colour, arm, seeds) in &lines {
        draw(&mut svg, self::colour(*colour), arm, seeds, (x0, x1), &x, &y);
    }
    svg.push_str("</svg>");
    Some(svg)
}

fn draw(
    svg: &mut String,
    colour: &str,
    arm: &str,
    seeds: &[Vec<(f64, f64)>],
    (x0, x1): (f64, f64),
    x: &dyn Fn(f64) -> f64,
    y: &dyn Fn(f64) -> f64,
) {
    let (mut middle, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new());
    for place in 0..=PLACES {
        let at = x0 + (x1 - x0) * place as f64 / PLACES as f64;
        let values: Vec<f64> = seeds.iter().filter_map(|points| height(points, at)).collect();
        if values.len() * 2 < seeds.len().max(1) || values.is_empty() {
            continue;
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        middle.push((at, mean));
        low.push((at, least));
        high.push((at, most));
    }
    let path = |points: &mut dyn Iterator<Item = &(f64, f64)>| {
        let mut d = String::new();
        for (at, value) in points {
            let pen = if d.is_empty() { 'M' } else { 'L' };
            let _ = write!(d, "{pen}{:.1} {:.1}", x(*at), y(*value));
        }
        d
    };
    if seeds.len() > 1 {
        let d = path(&mut high.iter().chain(low.iter().rev()));
        let _ = write!(svg, "<path d=\"{d}Z\" fill=\"{colour}\" opacity=\"0.13\"/>");
    }
    let d = path(&mut middle.iter());
    let title = escape(arm);
    let _ = write!(
        svg,
        "<path d=\"{d}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"><title>{title}</title></path>"
    );
    for (at, value) in seeds.iter().filter_map(|points| points.last()) {
        let (cx, cy) = (x(*at), y(*value));
        let _ = write!(svg, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"2.5\" fill=\"{colour}\"/>");
    }
}

/// A curve's points over an axis.
fn along(record: &CellRecord, curve: &str, axis: &str) -> Vec<(f64, f64)> {
    let points = record.curves.get(curve).into_iter().flatten();
    points.filter_map(|point| Some((*point.costs.get(axis)?, point.value))).collect()
}

/// The height of a piecewise linear curve. Absent outside its points.
fn height(points: &[(f64, f64)], at: f64) -> Option<f64> {
    let pair = points.windows(2).find(|pair| pair[0].0 <= at && at <= pair[1].0)?;
    let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
    Some(if x1 > x0 { y0 + (y1 - y0) * (at - x0) / (x1 - x0) } else { y1 })
}

fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |span, value| match span {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

/// Every pair of a curve and an axis that some record has.
pub(crate) fn curves_and_axes(records: &[&CellRecord]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (curve, points) in records.iter().flat_map(|record| &record.curves) {
        let axes = found.entry(curve.clone()).or_default();
        for axis in points.iter().flat_map(|point| point.costs.keys()) {
            if !axes.contains(axis) {
                axes.push(axis.clone());
            }
        }
    }
    found
}
