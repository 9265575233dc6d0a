//! What a claim reads of a cell: a measure, the end of a curve, the area under it, or what it cost to reach a level.

use crate::range::Range;
use merit_studies::{CellRecord, Point};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is read of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Measure {
    /// A measure by its name.
    Named(String),
    /// Something read of a curve.
    Curve(CurveMeasure),
}

/// What is read of a curve. Exactly one of `last`, `area`, `reach`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CurveMeasure {
    /// The metric whose last value is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// The mean height over `axis`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<String>,
    /// What had been spent on `axis` when the curve first was at the level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<String>,
    /// The cost that the curve is drawn against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis: Option<String>,
    /// The level that `reach` waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// The level as a share of what the arm `of` ends with at the same seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The arm, or `best`: the arm that ends highest at that seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The mean of so many neighbouring points is taken for a point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smooth: Option<usize>,
}

/// What a cell says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reading {
    Value(f64),
    /// The level was not reached before this much was spent.
    NotReached {
        budget: f64,
    },
}

impl Reading {
    pub(crate) fn range(self) -> Range {
        match self {
            Self::Value(value) => Range::known(value),
            Self::NotReached { budget } => Range::at_least(budget),
        }
    }
}

impl Measure {
    /// In a few words, for tables.
    pub fn describe(&self) -> String {
        match self {
            Self::Named(name) => name.clone(),
            Self::Curve(curve) => curve.describe(),
        }
    }

    /// Refuses what cannot be read, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Named(name) if name.is_empty() => Err("`measure` has no name".into()),
            Self::Named(_) => Ok(()),
            Self::Curve(curve) => curve.check(),
        }
    }

    /// The arm whose end sets the level, where there is one other than `best`.
    pub(crate) fn other_arm(&self) -> Option<&str> {
        match self {
            Self::Curve(CurveMeasure { of: Some(of), .. }) if of != "best" => Some(of),
            _ => None,
        }
    }

    /// Whether it is what was spent until a level was reached.
    pub(crate) fn is_cost(&self) -> bool {
        matches!(self, Self::Curve(CurveMeasure { reach: Some(_), .. }))
    }

    /// Reads one cell. `others`: the cells of the part's arms at the same seed, by arm.
    pub(crate) fn read(
        &self,
        record: &CellRecord,
        others: &[(&str, &CellRecord)],
    ) -> Result<Reading, String> {
        match self {
            Self::Named(name) => {
                let value = record.measures.get(name).copied();
                let known =
                    || merit_core::registry::nearest(name, record.measures.keys().map(String::as_str));
                value.map(Reading::Value).ok_or_else(|| match known() {
                    Some(near) => format!("there is no measure `{name}` (did you mean `{near}`?)"),
                    None => format!("there is no measure `{name}`"),
                })
            }
            Self::Curve(curve) => curve.read(record, others),
        }
    }
}

impl CurveMeasure {
    fn describe(&self) -> String {
        let axis = self.axis.as_deref().unwrap_or_default();
        match (&self.last, &self.area, &self.reach) {
            (Some(curve), ..) => format!("{curve} at the end"),
            (_, Some(curve), _) => format!("{curve}, mean over {axis}"),
            (_, _, Some(curve)) => match (self.level, self.share, &self.of) {
                (Some(level), ..) => format!("{axis} to {curve} {level}"),
                (None, Some(share), of) => {
                    format!("{axis} to {share} × the end of {} in {curve}", of.as_deref().unwrap_or("best"))
                }
                _ => format!("{axis} to {curve}"),
            },
            _ => String::new(),
        }
    }

    fn check(&self) -> Result<(), String> {
        let named = [&self.last, &self.area, &self.reach].into_iter().flatten().count();
        if named != 1 {
            return Err("`measure` must have exactly one of `last`, `area` and `reach`".into());
        }
        let axis = self.axis.is_some();
        if self.last.is_some() && axis {
            return Err("`measure.axis` means nothing for the last value of a curve".into());
        }
        if self.last.is_none() && !axis {
            return Err("`measure.axis` is missing: what is spent along the curve, e.g. `env_steps`".into());
        }
        let level = usize::from(self.level.is_some()) + usize::from(self.share.is_some());
        match (self.reach.is_some(), level) {
            (true, 1) | (false, 0) => {}
            (true, _) => return Err("`measure.reach` needs either `level`, or `share` and `of`".into()),
            (false, _) => return Err("`measure.level` and `share` belong to `reach`".into()),
        }
        if self.share.is_some() != self.of.is_some() {
            return Err("`measure.share` and `measure.of` belong together".into());
        }
        if self.smooth == Some(0) {
            return Err("`measure.smooth` is 0; it must be at least 1".into());
        }
        Ok(())
    }

    fn read(&self, record: &CellRecord, others: &[(&str, &CellRecord)]) -> Result<Reading, String> {
        let name = [&self.last, &self.area, &self.reach].into_iter().flatten().next();
        let name = name.ok_or("`measure` names no curve")?;
        let points = self.points(record, name)?;
        let axis = self.axis.as_deref().unwrap_or_default();
        if self.last.is_some() {
            return Ok(Reading::Value(points.last().map_or(0.0, |point| point.value)));
        }
        let along: Vec<(f64, f64)> = points
            .iter()
            .map(|point| Some((*point.costs.get(axis)?, point.value)))
            .collect::<Option<_>>()
            .ok_or_else(|| format!("the curve `{name}` does not say what was spent on `{axis}`"))?;
        if self.area.is_some() {
            return Ok(Reading::Value(mean_height(&along)));
        }
        let level = match (self.level, self.share) {
            (Some(level), _) => level,
            (None, share) => share.unwrap_or(1.0) * self.end_of(name, others)?,
        };
        // What came after the last point was not looked at.
        let budget = along.last().map_or(0.0, |point| point.0);
        Ok(first_at(&along, level).map_or(Reading::NotReached { budget }, Reading::Value))
    }

    /// Where the arm that sets the level ends.
    fn end_of(&self, name: &str, others: &[(&str, &CellRecord)]) -> Result<f64, String> {
        let of = self.of.as_deref().unwrap_or("best");
        let mut ends = Vec::new();
        for (arm, record) in others {
            if of == "best" || of == *arm {
                ends.extend(self.points(record, name)?.last().map(|point| point.value));
            }
        }
        ends.into_iter()
            .reduce(f64::max)
            .ok_or_else(|| format!("there is no cell of arm `{of}` at this seed"))
    }

    /// The points of a curve, smoothed.
    fn points(&self, record: &CellRecord, name: &str) -> Result<Vec<Point>, String> {
        let points = record.curves.get(name).filter(|points| !points.is_empty());
        let points = points.ok_or_else(|| format!("there is no curve `{name}`"))?;
        let (width, count) = (self.smooth.unwrap_or(1), points.len());
        let smoothed = |at: usize| {
            let window = &points[at.saturating_sub((width - 1) / 2)..(at + width / 2 + 1).min(count)];
            window.iter().map(|point| point.value).sum::<f64>() / window.len() as f64
        };
        let mean = |(at, point): (usize, &Point)| Point { costs: point.costs.clone(), value: smoothed(at) };
        Ok(points.iter().enumerate().map(mean).collect())
    }
}

/// The mean of a piecewise linear curve.
fn mean_height(along: &[(f64, f64)]) -> f64 {
    let width = along.last().map_or(0.0, |p| p.0) - along.first().map_or(0.0, |p| p.0);
    if width <= 0.0 {
        return along.last().map_or(0.0, |p| p.1);
    }
    let pieces = along.windows(2).map(|pair| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0);
    pieces.sum::<f64>() / width
}

/// Where a piecewise linear curve is first at a level.
fn first_at(along: &[(f64, f64)], level: f64) -> Option<f64> {
    let at = along.iter().position(|(_, value)| *value >= level)?;
    let (x, y) = along[at];
    match at.checked_sub(1).map(|before| along[before]) {
        Some((x0, y0)) if y > y0 => Some(x0 + (x - x0) * (level - y0) / (y - y0)),
        _ => Some(x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn record(points: &[(f64, f64)]) -> CellRecord {
        let point =
            |(x, value): &(f64, f64)| Point { costs: BTreeMap::from([("n".into(), *x)]), value: *value };
        let curve = points.iter().map(point).collect();
        CellRecord { curves: BTreeMap::from([("c".into(), curve)]), ..CellRecord::default() }
    }

    fn read(measure: &str, points: &[(f64, f64)]) -> Reading {
        let table: toml::Table = toml::from_str(&format!("m = {measure}")).unwrap();
        let measure: Measure = table["m"].clone().try_into().unwrap();
        measure.check().unwrap();
        let record = record(points);
        measure.read(&record, &[("a", &record)]).unwrap()
    }

    #[test]
    fn a_level_is_reached_between_two_points() {
        let points = [(0.0, 0.0), (10.0, 0.5), (20.0, 1.0)];
        assert_eq!(read("{ reach = 'c', level = 0.75, axis = 'n' }", &points), Reading::Value(15.0));
        assert_eq!(
            read("{ reach = 'c', share = 0.5, of = 'best', axis = 'n' }", &points),
            Reading::Value(10.0)
        );
        assert_eq!(
            read("{ reach = 'c', level = 2.0, axis = 'n' }", &points),
            Reading::NotReached { budget: 20.0 }
        );
    }

    #[test]
    fn area_is_the_mean_height_and_last_the_end() {
        let points = [(0.0, 0.0), (10.0, 1.0), (30.0, 1.0)];
        // (5 + 20) / 30
        assert_eq!(read("{ area = 'c', axis = 'n' }", &points), Reading::Value(25.0 / 30.0));
        assert_eq!(read("{ last = 'c' }", &points), Reading::Value(1.0));
        assert_eq!(read("{ last = 'c', smooth = 3 }", &[(0.0, 0.0), (1.0, 1.0)]), Reading::Value(0.5));
    }
}
