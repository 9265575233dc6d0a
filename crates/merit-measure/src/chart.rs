//! Charts as inline SVG: lines, a band of spread, marks with whiskers. Colours come from the page's style sheet.

use crate::html::{escape, number, percent};
use std::fmt::Write as _;

/// A line chart over steps.
pub(crate) struct Chart<'a> {
    /// Read aloud to those who cannot see it.
    pub(crate) label: &'a str,
    /// Width and height in the chart's own units.
    pub(crate) size: (f64, f64),
    /// The vertical axis is a share between 0 and 1.
    pub(crate) share: bool,
    /// The main line.
    pub(crate) line: &'a [(u64, f64)],
    /// A second, dashed line.
    pub(crate) second: &'a [(u64, f64)],
    /// Low and high around the line.
    pub(crate) band: Vec<(u64, f64, f64)>,
    /// Points of their own, with an interval where there is one.
    pub(crate) marks: Vec<Mark>,
}

/// A point of its own.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    /// Where on the horizontal axis.
    pub(crate) step: u64,
    /// Where on the vertical axis.
    pub(crate) value: f64,
    /// Low and high of its whisker.
    pub(crate) interval: Option<(f64, f64)>,
}

const LEFT: f64 = 52.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 20.0;

struct Frame {
    size: (f64, f64),
    x: (f64, f64),
    y: (f64, f64),
}

impl Frame {
    fn x(&self, step: u64) -> f64 {
        LEFT + (step as f64 - self.x.0) / (self.x.1 - self.x.0) * (self.size.0 - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        let height = self.size.1 - TOP - BOTTOM;
        TOP + (1.0 - (value - self.y.0) / (self.y.1 - self.y.0)) * height
    }
}

impl Chart<'_> {
    /// The SVG element.
    pub(crate) fn draw(&self) -> String {
        let frame = self.frame();
        let mut svg = format!(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
            self.size.0,
            self.size.1,
            escape(self.label)
        );
        self.axes(&frame, &mut svg);
        if self.band.len() > 1 {
            let high = self.band.iter().map(|(step, _, high)| (*step, *high));
            let low = self.band.iter().rev().map(|(step, low, _)| (*step, *low));
            let _ = write!(svg, "<path class=\"band\" d=\"{}Z\"/>", path(&frame, high.chain(low)));
        }
        for (class, points) in [("second", self.second), ("curve", self.line)] {
            match points {
                [] => {}
                [(step, value)] => {
                    let (x, y) = (frame.x(*step), frame.y(*value));
                    let _ = write!(svg, "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>");
                }
                points => {
                    let d = path(&frame, points.iter().copied());
                    let _ = write!(svg, "<path class=\"{class}\" d=\"{d}\"/>");
                }
            }
        }
        self.marks.iter().for_each(|mark| draw_mark(&frame, *mark, &mut svg));
        svg.push_str("</svg>");
        svg
    }

    fn frame(&self) -> Frame {
        let bands = self.band.iter().flat_map(|(_, low, high)| [*low, *high]);
        let marks = self
            .marks
            .iter()
            .flat_map(|m| [Some(m.value), m.interval.map(|i| i.0), m.interval.map(|i| i.1)])
            .flatten();
        let lines = self.line.iter().chain(self.second);
        let (low, high) = span(lines.clone().map(|p| p.1).chain(bands).chain(marks));
        let steps = lines.map(|p| p.0).chain(self.marks.iter().map(|m| m.step)).map(|step| step as f64);
        let x = span(steps);
        let x = if x.0 < x.1 { x } else { (x.0 - 1.0, x.1 + 1.0) };
        let flat = if high == 0.0 { 1.0 } else { high.abs() * 0.1 };
        let y = match (self.share, low < high) {
            (true, _) => (0.0, 1.0),
            // Starting at 0 keeps small wiggles small, as long as 0 is near.
            (false, true) if low > 0.0 && low < high * 0.6 => (0.0, high),
            (false, true) => (low, high),
            (false, false) => (low - flat, high + flat),
        };
        Frame { size: self.size, x, y }
    }

    fn axes(&self, frame: &Frame, svg: &mut String) {
        let parts = if self.size.1 > 150.0 { 4 } else { 2 };
        let right = self.size.0 - RIGHT;
        for part in 0..=parts {
            let value = frame.y.0 + (frame.y.1 - frame.y.0) * f64::from(part) / f64::from(parts);
            let y = frame.y(value);
            let text = if self.share { percent(value).replace(".0%", "%") } else { number(value) };
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
            );
            let _ = write!(
                svg,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                LEFT - 6.0,
                y + 3.5
            );
        }
        for step in ticks(frame.x, if self.size.0 > 300.0 { 6.0 } else { 3.0 }) {
            let (x, y) = (frame.x(step), self.size.1 - 5.0);
            let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{step}</text>");
        }
    }
}

fn draw_mark(frame: &Frame, mark: Mark, svg: &mut String) {
    let (x, y) = (frame.x(mark.step), frame.y(mark.value));
    if let Some((low, high)) = mark.interval {
        let (low, high) = (frame.y(low), frame.y(high));
        let _ = write!(
            svg,
            "<line class=\"whisker\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{low:.1}\" y2=\"{high:.1}\"/>"
        );
    }
    let _ = write!(svg, "<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>");
}

fn path(frame: &Frame, points: impl Iterator<Item = (u64, f64)>) -> String {
    let mut d = String::new();
    for (step, value) in points {
        let pen = if d.is_empty() { 'M' } else { 'L' };
        let _ = write!(d, "{pen}{:.1} {:.1}", frame.x(step), frame.y(value));
    }
    d
}

fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

/// Round steps, at most about `most` of them.
fn ticks((low, high): (f64, f64), most: f64) -> Vec<u64> {
    let rough = ((high - low) / most).max(1.0);
    let scale = 10_f64.powf(rough.log10().floor());
    let gap = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * scale).find(|gap| *gap >= rough).unwrap_or(rough);
    let first = (low.max(0.0) / gap).ceil() as u64;
    let last = (high / gap).floor() as u64;
    (first..=last).map(|n| (n as f64 * gap) as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks((0.0, 60.0), 6.0), [0, 10, 20, 30, 40, 50, 60]);
        assert_eq!(ticks((1.0, 3.0), 6.0), [1, 2, 3]);
        assert_eq!(ticks((0.0, 130.0), 3.0), [0, 50, 100]);
    }

    #[test]
    fn a_line_runs_from_corner_to_corner() {
        let line = [(0, 0.0), (10, 1.0)];
        let chart = Chart {
            label: "up",
            size: (164.0, 130.0),
            share: true,
            line: &line,
            second: &[],
            band: vec![],
            marks: vec![],
        };
        // left 52, right 164 − 12, bottom 130 − 20, top 10
        assert!(chart.draw().contains("d=\"M52.0 110.0L152.0 10.0\""), "{}", chart.draw());
    }
}
