//! Numbers within bounds.

use merit_core::Stream;
use serde_json::{Map, Number, Value};

/// How far a range goes where only one end, or none, is given.
const SPAN: i64 = 100;

/// Whole numbers: multiples of `step` from `low` to `high` steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Integers {
    low: i64,
    high: i64,
    step: i64,
}

/// Numbers between two ends, which may or may not be among them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimals {
    low: f64,
    high: f64,
    /// Hundredths that lie within, where there are any.
    hundredths: Option<(i64, i64)>,
}

/// An end of a range: the number, and whether it is excluded.
type End = Option<(f64, bool)>;

fn end(schema: &Map<String, Value>, keyword: &str, excluding: &str, larger: bool) -> Result<End, String> {
    let read = |keyword: &str| match schema.get(keyword) {
        None => Ok(None),
        Some(value) => match value.as_f64().filter(|x| x.abs() < 9e15) {
            Some(x) => Ok(Some(x)),
            None => Err(format!("`{keyword}` is no number below 9e15")),
        },
    };
    Ok(match (read(keyword)?, read(excluding)?) {
        (Some(a), Some(b)) if (larger && b >= a) || (!larger && b <= a) => Some((b, true)),
        (Some(a), _) => Some((a, false)),
        (None, Some(b)) => Some((b, true)),
        (None, None) => None,
    })
}

fn ends(schema: &Map<String, Value>) -> Result<(End, End), String> {
    let low = end(schema, "minimum", "exclusiveMinimum", true)?;
    let high = end(schema, "maximum", "exclusiveMaximum", false)?;
    Ok((low, high))
}

impl Integers {
    pub(super) fn read(schema: &Map<String, Value>) -> Result<Self, String> {
        let step = match schema.get("multipleOf") {
            None => 1,
            Some(step) => {
                let whole = step.as_f64().filter(|x| x.fract() == 0.0 && (1.0..9e15).contains(x));
                whole.ok_or("`multipleOf` is not a whole number above 0, which cannot be drawn from")? as i64
            }
        };
        let (low, high) = ends(schema)?;
        // In steps; both ends are below 9e15, so the casts are exact.
        let low = low.map(|(x, excluded)| {
            let least = if excluded { x.floor() as i64 + 1 } else { x.ceil() as i64 };
            least.div_euclid(step) + i64::from(least.rem_euclid(step) != 0)
        });
        let high = high.map(|(x, excluded)| {
            let most = if excluded { x.ceil() as i64 - 1 } else { x.floor() as i64 };
            most.div_euclid(step)
        });
        let span = (SPAN / step).max(1);
        let (low, high) = match (low, high) {
            (Some(low), Some(high)) => (low, high),
            (Some(low), None) => (low, low + span),
            (None, Some(high)) => (high - span, high),
            (None, None) => (0, span),
        };
        if low > high {
            return Err("has no whole number within its bounds".to_owned());
        }
        Ok(Self { low, high, step })
    }

    pub(super) fn draw(&self, stream: &mut Stream) -> Value {
        Value::from(stream.between(self.low, self.high) * self.step)
    }
}

impl Decimals {
    pub(super) fn read(schema: &Map<String, Value>) -> Result<Self, String> {
        if schema.contains_key("multipleOf") {
            return Err("`multipleOf` of a number that need not be whole cannot be drawn from".to_owned());
        }
        let (low, high) = ends(schema)?;
        let span = SPAN as f64;
        let (from, to) = match (low, high) {
            (Some((low, _)), Some((high, _))) => (low, high),
            (Some((low, _)), None) => (low, low + span),
            (None, Some((high, _))) => (high - span, high),
            (None, None) => (0.0, span),
        };
        if from > to {
            return Err("has no number within its bounds".to_owned());
        }
        let excludes = |end: End, x: f64| end.is_some_and(|(at, excluded)| excluded && at == x);
        let (mut least, mut most) = ((from * 100.0).ceil() as i64, (to * 100.0).floor() as i64);
        least += i64::from(excludes(low, least as f64 / 100.0) || (least as f64 / 100.0) < from);
        most -= i64::from(excludes(high, most as f64 / 100.0) || (most as f64 / 100.0) > to);
        let hundredths = (least <= most && from.abs() < 1e12 && to.abs() < 1e12).then_some((least, most));
        Ok(Self { low: from, high: to, hundredths })
    }

    pub(super) fn draw(&self, stream: &mut Stream) -> Value {
        let x = match self.hundredths {
            Some((least, most)) => stream.between(least, most) as f64 / 100.0,
            // Away from the ends, which may be excluded.
            None => self.low + (self.high - self.low) * (0.25 + 0.5 * stream.unit()),
        };
        Number::from_f64(x).map_or(Value::Null, Value::Number)
    }
}
