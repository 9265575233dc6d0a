//! Hard limits: how large an outside document may be, and how much work a check may do on it.
//!
//! Size limits are met while reading, so an oversized text is never built in memory. [`Budget`] counts steps of work:
//! a loop over outside data spends from it and stops with [`Exhausted`], a fault of the check and not of the policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How large a document may be and how much work a check of it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Longest text, in bytes.
    pub bytes: usize,
    /// Deepest nesting of arrays and objects; at most 128.
    pub depth: usize,
    /// Most values in one document, containers included.
    pub nodes: usize,
    /// Most steps of work in one check.
    pub steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 1 << 20, depth: 64, nodes: 100_000, steps: 10_000_000 }
    }
}

/// The deepest nesting a configuration may allow: what the stack of a small thread surely holds.
pub const MAX_DEPTH: usize = 128;

/// Which size limit a document passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum TooLarge {
    #[error("longer than {0} bytes")]
    Bytes(usize),
    #[error("nested deeper than {0} levels")]
    Depth(usize),
    #[error("more than {0} values")]
    Nodes(usize),
}

/// Limits that cannot work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadLimits {
    /// Every limit has to allow something.
    #[error("limit `{0}` is 0, which refuses every document; give a positive number")]
    Zero(&'static str),
    /// The nesting is more than the stack is sure to hold.
    #[error("limit `depth` is {0}, but at most {MAX_DEPTH} levels are safe")]
    Depth(usize),
}

impl Limits {
    /// Refuses limits that cannot work.
    pub fn check(&self) -> Result<(), BadLimits> {
        let zero = [
            ("bytes", self.bytes == 0),
            ("nodes", self.nodes == 0),
            ("depth", self.depth == 0),
            ("steps", self.steps == 0),
        ];
        if let Some((name, _)) = zero.iter().find(|(_, is_zero)| *is_zero) {
            return Err(BadLimits::Zero(name));
        }
        if self.depth > MAX_DEPTH { Err(BadLimits::Depth(self.depth)) } else { Ok(()) }
    }

    /// Measures a value that came from elsewhere, without recursion.
    pub fn admit(&self, value: &Value) -> Result<(), TooLarge> {
        let mut nodes = 0usize;
        let mut open = vec![(value, 1usize)];
        while let Some((value, depth)) = open.pop() {
            nodes += 1;
            if nodes > self.nodes {
                return Err(TooLarge::Nodes(self.nodes));
            }
            let is_container = matches!(value, Value::Array(_) | Value::Object(_));
            if is_container && depth > self.depth {
                return Err(TooLarge::Depth(self.depth));
            }
            match value {
                Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
                Value::Object(map) => open.extend(map.values().map(|item| (item, depth + 1))),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The work of one check ran past its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the check needs more than {0} steps; raise `limits.steps` or simplify the schema or the rules")]
pub struct Exhausted(pub u64);

/// Steps of work that are left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    total: u64,
    left: u64,
}

impl Budget {
    pub(crate) fn new(steps: u64) -> Self {
        Self { total: steps, left: steps }
    }

    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), Exhausted> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(Exhausted(self.total))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_deep_value_built_in_memory_is_measured_without_recursion() {
        let mut value = json!(1);
        for _ in 0..5_000 {
            value = Value::Array(vec![value]);
        }
        assert_eq!(Limits::default().admit(&value), Err(TooLarge::Depth(64)));
        // Dropping a deep value recurses in serde_json; take it apart first.
        while let Value::Array(mut items) = value {
            value = items.pop().unwrap_or(Value::Null);
        }
    }

    #[test]
    fn a_spent_budget_stays_spent() {
        let mut budget = Budget::new(3);
        assert_eq!(budget.spend(2), Ok(()));
        assert_eq!(budget.spend(2), Err(Exhausted(3)));
        assert_eq!(budget.spend(1), Err(Exhausted(3)));
    }
}
