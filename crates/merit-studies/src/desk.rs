//! The only way out of a cell: what was spent, curves, measures.

use crate::StudyError;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

/// What one cell found: plain data, equal for equal settings and seed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellRecord {
    /// What was spent, by axis: `env_steps`, `updates`, `episodes`, …
    pub costs: BTreeMap<String, f64>,
    /// What claims read, by name.
    pub measures: BTreeMap<String, f64>,
    /// Values along the way, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "columns")]
    pub curves: BTreeMap<String, Vec<Point>>,
    /// Values by task, for arms that play the same tasks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub paired: BTreeMap<String, BTreeMap<u64, f64>>,
    /// What else a reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A value, and what had been spent on every axis when it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub costs: BTreeMap<String, f64>,
    pub value: f64,
}

/// Curves as they are written: a column for each axis instead of a table for each point.
mod columns {
    use super::Point;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
    use std::collections::BTreeMap;

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Columns {
        costs: BTreeMap<String, Vec<f64>>,
        values: Vec<f64>,
    }

    pub(super) fn serialize<S: Serializer>(
        curves: &BTreeMap<String, Vec<Point>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let columns = |points: &Vec<Point>| {
            let mut costs: BTreeMap<String, Vec<f64>> = BTreeMap::new();
            for axis in points.iter().flat_map(|point| point.costs.keys()) {
                // Nothing was spent on an axis before it is first named.
                let spent = |point: &Point| point.costs.get(axis).copied().unwrap_or(0.0);
                costs.entry(axis.clone()).or_insert_with(|| points.iter().map(spent).collect());
            }
            Columns { costs, values: points.iter().map(|point| point.value).collect() }
        };
        let all: BTreeMap<&String, Columns> =
            curves.iter().map(|(name, points)| (name, columns(points))).collect();
        all.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, Vec<Point>>, D::Error> {
        let all = BTreeMap::<String, Columns>::deserialize(deserializer)?;
        let points = |(name, columns): (String, Columns)| {
            if columns.costs.values().any(|column| column.len() != columns.values.len()) {
                return Err(D::Error::custom(format!("the columns of the curve `{name}` differ in length")));
            }
            let point = |(at, value): (usize, &f64)| Point {
                costs: columns.costs.iter().map(|(axis, column)| (axis.clone(), column[at])).collect(),
                value: *value,
            };
            Ok((name, columns.values.iter().enumerate().map(point).collect()))
        };
        all.into_iter().map(points).collect()
    }
}

/// Where a cell says what it finds.
#[derive(Debug)]
pub struct Desk<'a> {
    budget: BTreeMap<String, f64>,
    stop: &'a AtomicBool,
    record: CellRecord,
}

impl<'a> Desk<'a> {
    /// A desk whose cell may spend `budget` and ends early when `stop` is set.
    pub fn new(budget: BTreeMap<String, f64>, stop: &'a AtomicBool) -> Self {
        Self { budget, stop, record: CellRecord::default() }
    }

    /// Adds to what was spent on an axis.
    pub fn spend(&mut self, axis: &str, amount: f64) {
        match self.record.costs.get_mut(axis) {
            Some(spent) => *spent += amount,
            None => drop(self.record.costs.insert(axis.to_owned(), amount)),
        }
    }

    /// What was spent on an axis so far.
    pub fn spent(&self, axis: &str) -> f64 {
        self.record.costs.get(axis).copied().unwrap_or(0.0)
    }

    /// What may be spent on an axis, where the system's file sets a budget for it.
    pub fn budget(&self, axis: &str) -> Option<f64> {
        self.budget.get(axis).copied()
    }

    /// Whether something is left on every axis of the budget. An error when somebody asked the cell to stop.
    pub fn left(&self) -> Result<bool, StudyError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(StudyError::Stopped);
        }
        Ok(self.budget.iter().all(|(axis, most)| self.spent(axis) < *most))
    }

    /// A point of a curve, stamped with everything spent so far.
    pub fn point(&mut self, curve: &str, value: f64) {
        let point = Point { costs: self.record.costs.clone(), value };
        self.record.curves.entry(curve.to_owned()).or_default().push(point);
    }

    /// A measure that claims read; the last value of a name counts.
    pub fn measure(&mut self, name: &str, value: f64) {
        self.record.measures.insert(name.to_owned(), value);
    }

    /// A value of one task. Arms that play the same tasks are compared task by task.
    pub fn paired(&mut self, name: &str, task: u64, value: f64) {
        self.record.paired.entry(name.to_owned()).or_default().insert(task, value);
    }

    /// Something a reader should know.
    pub fn note(&mut self, text: impl Into<String>) {
        self.record.notes.push(text.into());
    }

    /// What was found. An error where a value is not a number: the cell broke.
    pub fn finish(mut self) -> Result<CellRecord, StudyError> {
        for points in self.record.curves.values_mut() {
            let axes: BTreeSet<String> =
                points.iter().flat_map(|point| point.costs.keys().cloned()).collect();
            for point in points {
                for axis in &axes {
                    point.costs.entry(axis.clone()).or_insert(0.0);
                }
            }
        }
        let numbers = self.record.measures.iter().chain(&self.record.costs);
        for (name, value) in numbers {
            if !value.is_finite() {
                return Err(StudyError::Broken(format!("`{name}` is {value}")));
            }
        }
        for (name, points) in &self.record.curves {
            if points.iter().any(|point| !point.value.is_finite()) {
                return Err(StudyError::Broken(format!("the curve `{name}` has a point that is no number")));
            }
        }
        Ok(self.record)
    }
}
