//! Arguments from observations: a value that was never seen before the call was invented.
//!
//! A string is seen when it stands in an earlier observation as a whole word or phrase, plain or escaped as JSON; a number
//! when an earlier observation has a number of the same value. Booleans, nulls and empty strings carry nothing to check.

use super::arguments::ReadCall;
use super::spec::Step;
use crate::json::canonical::clip;
use crate::json::limits::{Budget, Exhausted};
use crate::json::number::double;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which arguments have to come from observations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Grounding {
    /// Tools the rule speaks of; empty: all.
    pub tools: Vec<String>,
    /// Arguments the rule speaks of; empty: all.
    pub arguments: Vec<String>,
    /// Upper and lower case are one.
    pub ignore_case: bool,
}

/// A value that was not seen.
pub(super) struct Invented {
    pub(super) call: usize,
    pub(super) argument: String,
    pub(super) value: String,
}

impl Grounding {
    /// How many values were checked, and those that were never seen.
    pub(super) fn find(
        &self,
        trace: &[Step],
        calls: &[ReadCall<'_>],
        budget: &mut Budget,
    ) -> Result<(usize, Vec<Invented>), Exhausted> {
        let (mut checked, mut invented) = (0, Vec::new());
        for (index, call) in calls.iter().enumerate() {
            let is_meant = self.tools.is_empty() || self.tools.iter().any(|tool| tool == call.tool);
            let Some(Value::Object(arguments)) = call.arguments.as_ref().filter(|_| is_meant) else {
                continue;
            };
            let seen: Vec<&str> = observations(trace.get(..call.step).unwrap_or_default()).collect();
            let meant = arguments
                .iter()
                .filter(|(name, _)| self.arguments.is_empty() || self.arguments.contains(name));
            for (name, value) in meant {
                for leaf in leaves(value) {
                    checked += 1;
                    if !self.is_seen(leaf, &seen, budget)? {
                        invented.push(Invented {
                            call: index,
                            argument: name.clone(),
                            value: clip(&leaf.to_string()),
                        });
                    }
                }
            }
        }
        Ok((checked, invented))
    }

    fn is_seen(&self, value: &Value, seen: &[&str], budget: &mut Budget) -> Result<bool, Exhausted> {
        for text in seen {
            budget.spend(1 + text.len() as u64 / 8)?;
            let is_here = match value {
                Value::String(phrase) => self.has_phrase(text, phrase),
                Value::Number(number) => has_number(text, double(number)),
                _ => true,
            };
            if is_here {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_phrase(&self, text: &str, phrase: &str) -> bool {
        let escaped = serde_json::to_string(phrase).unwrap_or_default();
        let escaped = escaped.get(1..escaped.len().saturating_sub(1)).unwrap_or_default();
        if self.ignore_case {
            let text = text.to_lowercase();
            has_words(&text, &phrase.to_lowercase()) || has_words(&text, &escaped.to_lowercase())
        } else {
            has_words(text, phrase) || (escaped != phrase && has_words(text, escaped))
        }
    }
}

fn observations(trace: &[Step]) -> impl Iterator<Item = &str> {
    trace.iter().filter_map(|step| match step {
        Step::Observation { text } => Some(text.as_str()),
        Step::Call { .. } => None,
    })
}

/// The strings and numbers inside a value.
fn leaves(value: &Value) -> Vec<&Value> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(map) => open.extend(map.values().rev()),
            Value::String(text) if text.trim().is_empty() => {}
            Value::String(_) | Value::Number(_) => found.push(value),
            Value::Null | Value::Bool(_) => {}
        }
    }
    found
}

/// Whether `phrase` stands in `text` with no letter or digit touching it.
fn has_words(text: &str, phrase: &str) -> bool {
    let phrase = phrase.trim();
    let first_is_word = phrase.chars().next().is_some_and(char::is_alphanumeric);
    let last_is_word = phrase.chars().next_back().is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).any(|(at, found)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|text| text.chars().next());
        let touches = |is_word: bool, c: Option<char>| is_word && c.is_some_and(char::is_alphanumeric);
        !touches(first_is_word, before) && !touches(last_is_word, after)
    })
}

/// Whether `text` has a number of this value; `1,200.50` is one number.
fn has_number(text: &str, value: f64) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+' | 'e' | 'E');
    text.split(|c: char| !is_part(c)).filter(|token| token.bytes().any(|b| b.is_ascii_digit())).any(|token| {
        let token = token.trim_matches(|c: char| !c.is_ascii_digit() && c != '-');
        let plain = token.replace(',', "");
        // `1,2` may be a list, `2024-05-01` a date: the pieces count too.
        plain.parse() == Ok(value)
            || token.split([',', '-']).any(|piece| piece.trim_end_matches('.').parse() == Ok(value))
    })
}
