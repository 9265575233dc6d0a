//! A claim: a comparison of measures with a margin. A premise has the same shape.

use crate::Measure;
use crate::range::Range;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A statement about arms that the cells decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The claim in a sentence, for the page.
    pub says: String,
    /// What is read of each cell.
    pub measure: Measure,
    /// The arm it is about.
    pub arm: String,
    /// The arm it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// What is read of the other arm, where it is another measure: with the arm itself as `against`, a run's end over its start.
    /// Absent: the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_measure: Option<Measure>,
    /// A bound on the arm's own value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Bound>,
    /// A bound on the arm's value less the other's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Bound>,
    /// The other's value is multiplied by this before it is taken off: with 0.5 and `at_most = 0`, "at most half as often", also where
    /// the other's is 0 and a ratio would say nothing. Only with `difference`. Absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<f64>,
    /// A bound on the arm's value over the other's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Bound>,
    /// The two differ by no more than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// Instead of an interval: this share of the seeds must meet the bound, each for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_seeds: Option<f64>,
    /// Whether the verdict rests on it; otherwise it is only reported.
    #[serde(default = "yes")]
    pub required: bool,
}

fn yes() -> bool {
    true
}

/// A bound from one side or both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bound {
    /// The lower end. Absent: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The upper end. Absent: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// How a claim is tested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Test {
    Value(Bound),
    Difference(Bound),
    Ratio(Bound),
    Within(f64),
}

impl Bound {
    pub(crate) fn meets(&self, value: f64) -> bool {
        self.at_least.is_none_or(|low| value >= low) && self.at_most.is_none_or(|high| value <= high)
    }

    /// Whether every value of the range meets it.
    pub(crate) fn met_by(&self, range: Range) -> bool {
        self.meets(range.low) && self.meets(range.high)
    }

    /// Whether no value of the range meets it.
    pub(crate) fn excluded_by(&self, range: Range) -> bool {
        self.at_least.is_some_and(|least| range.high < least)
            || self.at_most.is_some_and(|most| range.low > most)
    }

    pub(crate) fn words(&self) -> String {
        match (self.at_least, self.at_most) {
            (Some(low), Some(high)) => format!("{low} to {high}"),
            (Some(low), None) => format!("≥ {low}"),
            (None, Some(high)) => format!("≤ {high}"),
            (None, None) => String::new(),
        }
    }
}

impl Claim {
    /// How it is tested; in words why it cannot be.
    pub fn test(&self) -> Result<Test, String> {
        let tests = [
            self.value.map(Test::Value),
            self.difference.map(Test::Difference),
            self.ratio.map(Test::Ratio),
            self.within.map(Test::Within),
        ];
        let [test] = tests.into_iter().flatten().collect::<Vec<_>>()[..] else {
            return Err("must have exactly one of `value`, `difference`, `ratio` and `within`".into());
        };
        match (&test, &self.against) {
            (Test::Value(_), Some(_)) => {
                return Err("has `against`, so that it needs `difference`, `ratio` or `within`".into());
            }
            (Test::Difference(_) | Test::Ratio(_) | Test::Within(_), None) => {
                return Err("compares, so that it needs `against`".into());
            }
            _ => {}
        }
        if self.against_measure.is_some() && self.against.is_none() {
            return Err("has `against_measure`, so that it needs `against`".into());
        }
        if let Test::Value(bound) | Test::Difference(bound) | Test::Ratio(bound) = &test
            && bound.at_least.is_none()
            && bound.at_most.is_none()
        {
            return Err("needs `at_least` or `at_most`".into());
        }
        if let Test::Ratio(bound) = &test
            && [bound.at_least, bound.at_most].into_iter().flatten().any(|bound| bound <= 0.0)
        {
            return Err("has a bound on a ratio that is not above 0".into());
        }
        if let Some(times) = self.times {
            if !matches!(test, Test::Difference(_)) {
                return Err("has `times`, which is only for `difference`".into());
            }
            if !(times > 0.0 && times.is_finite()) {
                return Err(format!("has `times` = {times}; it must be above 0"));
            }
        }
        if self.within.is_some_and(|within| within <= 0.0) {
            return Err("has a `within` that is not above 0".into());
        }
        Ok(test)
    }

    /// The comparison in a few signs: `A − B ≥ 0.2`.
    pub fn comparison(&self) -> String {
        let (arm, against) = (&self.arm, self.against.as_deref().unwrap_or_default());
        let measure = self.against_measure.as_ref().map(|measure| format!(" ({})", measure.describe()));
        let against = format!("{against}{}", measure.unwrap_or_default());
        let text = match self.test() {
            Ok(Test::Value(bound)) => format!("{arm} {}", bound.words()),
            Ok(Test::Difference(bound)) => {
                let times = self.times.map_or_else(String::new, |times| format!("{times} × "));
                format!("{arm} − {times}{against} {}", bound.words())
            }
            Ok(Test::Ratio(bound)) => format!("{arm} ÷ {against} {}", bound.words()),
            Ok(Test::Within(within)) => format!("|{arm} − {against}| ≤ {within}"),
            Err(_) => String::new(),
        };
        match self.in_seeds {
            Some(share) => format!("{text} in {:.0} % of seeds", share * 100.0),
            None => text,
        }
    }

    /// The arms that it speaks of.
    fn named(&self) -> Vec<&str> {
        let measures = [Some(&self.measure), self.against_measure.as_ref()];
        let levels = measures.into_iter().flatten().filter_map(Measure::other_arm);
        [Some(self.arm.as_str()), self.against.as_deref()].into_iter().flatten().chain(levels).collect()
    }

    /// Whether it speaks of this arm.
    pub(crate) fn names(&self, arm: &str) -> bool {
        self.named().contains(&arm)
    }

    pub(crate) fn check(&self, arms: &[&str]) -> Result<(), String> {
        self.test()?;
        self.measure.check()?;
        self.against_measure.as_ref().map_or(Ok(()), Measure::check)?;
        if let Some(share) = self.in_seeds
            && !(share > 0.0 && share <= 1.0)
        {
            return Err(format!("has `in_seeds` = {share}; it must lie above 0 and at most at 1"));
        }
        for name in self.named() {
            if !arms.contains(&name) {
                let near = merit_core::registry::nearest(name, arms.iter().copied());
                let hint = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
                return Err(format!("names an arm `{name}` that there is not{hint}"));
            }
        }
        Ok(())
    }
}
