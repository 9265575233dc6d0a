//! Plain equality of two JSON texts: the fast grader.
//!
//! Keys may come in any order, numbers are equal by value, white space and escapes do not matter. A missing key is not
//! null, `true` is not 1, a repeated key is no JSON. Nothing is allocated per value; [`JsonMatcher`] keeps its two buffers
//! from call to call.

use super::decimal::Decimal;
use super::limits::{BadLimits, Budget, Exhausted, Limits};
use super::matching;
use super::tape::{self, Entry, Kind, Pairs};
use super::unreadable::Unreadable;
use serde::{Deserialize, Serialize};

/// What counts as equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MatchConfig {
    /// Arrays are equal in any order of their elements.
    pub unordered: bool,
    /// Keys of the response that the reference does not have are ignored.
    pub ignore_extra_keys: bool,
    /// Sizes and work.
    pub limits: Limits,
}

/// Whether two texts are the same JSON, or why that cannot be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonMatch {
    /// The same.
    Equal,
    /// Both are JSON and differ.
    Different,
    /// The response cannot be read: its own outcome, not a mismatch.
    ResponseUnreadable(Unreadable),
    /// The reference cannot be read: the grader's fault.
    ReferenceUnreadable(Unreadable),
    /// Comparing unordered arrays took too long: the grader's fault.
    Exhausted(Exhausted),
}

/// Compares texts, keeping its buffers.
#[derive(Debug, Default)]
pub struct JsonMatcher {
    config: MatchConfig,
    response: Vec<Entry>,
    reference: Vec<Entry>,
}

/// Whether `response` and `reference` are the same JSON, arrays in order and no extra keys.
///
/// ```
/// use merit_verify::json::{JsonMatch, json_match};
/// assert_eq!(json_match(r#"{"age": 30.0, "name": "Ada"}"#, r#"{"name":"Ada","age":30}"#), JsonMatch::Equal);
/// assert_eq!(json_match(r#"{"name": "Ada"}"#, r#"{"name": "Ada", "age": null}"#), JsonMatch::Different);
/// ```
pub fn json_match(response: &str, reference: &str) -> JsonMatch {
    JsonMatcher::default().compare(response, reference)
}

impl JsonMatcher {
    /// A matcher with its own idea of equality; refuses limits that cannot work.
    pub fn new(config: MatchConfig) -> Result<Self, BadLimits> {
        config.limits.check()?;
        Ok(Self { config, ..Self::default() })
    }

    /// Whether `response` says what `reference` says.
    pub fn compare(&mut self, response: &str, reference: &str) -> JsonMatch {
        if let Err(why) = tape::read(response, &self.config.limits, &mut self.response) {
            return JsonMatch::ResponseUnreadable(why);
        }
        if let Err(why) = tape::read(reference, &self.config.limits, &mut self.reference) {
            return JsonMatch::ReferenceUnreadable(why);
        }
        let pair = Pair {
            config: self.config,
            a: Side { text: response, entries: &self.response },
            b: Side { text: reference, entries: &self.reference },
        };
        match pair.equal(0, 0, &mut Budget::new(self.config.limits.steps)) {
            Ok(true) => JsonMatch::Equal,
            Ok(false) => JsonMatch::Different,
            Err(exhausted) => JsonMatch::Exhausted(exhausted),
        }
    }
}

#[derive(Clone, Copy)]
struct Side<'a> {
    text: &'a str,
    entries: &'a [Entry],
}

struct Pair<'a> {
    config: MatchConfig,
    a: Side<'a>,
    b: Side<'a>,
}

impl Pair<'_> {
    fn equal(&self, a: usize, b: usize, budget: &mut Budget) -> Result<bool, Exhausted> {
        budget.spend(1)?;
        let (left, right) = (&self.a.entries[a], &self.b.entries[b]);
        if left.kind != right.kind {
            return Ok(false);
        }
        match left.kind {
            Kind::Null | Kind::True | Kind::False => Ok(true),
            Kind::String => Ok(left.says_same(self.a.text, right, self.b.text)),
            Kind::Number => {
                let (x, y) = (left.raw(self.a.text), right.raw(self.b.text));
                Ok(x == y || Decimal::read(x).equals(&Decimal::read(y)))
            }
            Kind::Array if left.len != right.len => Ok(false),
            Kind::Array if self.config.unordered => self.same_elements(a, b, budget),
            Kind::Array => self.same_sequence(a, b, budget),
            Kind::Object => self.same_pairs(a, b, budget),
        }
    }

    fn same_sequence(&self, a: usize, b: usize, budget: &mut Budget) -> Result<bool, Exhausted> {
        let (mut i, mut j) = (a + 1, b + 1);
        let end = self.a.entries[a].next as usize;
        while i < end {
            if !self.equal(i, j, budget)? {
                return Ok(false);
            }
            i = self.a.entries[i].next as usize;
            j = self.b.entries[j].next as usize;
        }
        Ok(true)
    }

    fn same_elements(&self, a: usize, b: usize, budget: &mut Budget) -> Result<bool, Exhausted> {
        let left = elements(self.a.entries, a);
        let right = elements(self.b.entries, b);
        let pairs = matching::pair(left.len(), right.len(), budget, |l, r, budget| {
            self.equal(left[l], right[r], budget)
        })?;
        Ok(pairs.iter().all(Option::is_some))
    }

    fn same_pairs(&self, a: usize, b: usize, budget: &mut Budget) -> Result<bool, Exhausted> {
        let (left, right) = (&self.a.entries[a], &self.b.entries[b]);
        let may_have_more = self.config.ignore_extra_keys && left.len > right.len;
        if left.len != right.len && !may_have_more {
            return Ok(false);
        }
        if right.len > 32 {
            return self.same_many_pairs(a, b, budget);
        }
        // Writers mostly keep the order of keys: look at the next pair first, then at all of them.
        let mut following = Pairs::of(self.a.entries, a);
        for (key, value) in Pairs::of(self.b.entries, b) {
            let is_key = |(k, _): &(usize, usize)| {
                self.a.entries[*k].says_same(self.a.text, &self.b.entries[key], self.b.text)
            };
            let found = following.next().filter(is_key).or_else(|| Pairs::of(self.a.entries, a).find(is_key));
            budget.spend(1)?;
            match found {
                Some((_, mine)) if self.equal(mine, value, budget)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The same for large objects, where looking at all pairs for each key would be quadratic.
    fn same_many_pairs(&self, a: usize, b: usize, budget: &mut Budget) -> Result<bool, Exhausted> {
        let mine: std::collections::HashMap<_, _> = Pairs::of(self.a.entries, a)
            .map(|(key, value)| (self.a.entries[key].string(self.a.text), value))
            .collect();
        for (key, value) in Pairs::of(self.b.entries, b) {
            match mine.get(&self.b.entries[key].string(self.b.text)) {
                Some(mine) if self.equal(*mine, value, budget)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// Indices of an array's elements.
fn elements(entries: &[Entry], array: usize) -> Vec<usize> {
    let end = entries[array].next as usize;
    let mut found = Vec::with_capacity(entries[array].len as usize);
    let mut at = array + 1;
    while at < end {
        found.push(at);
        at = entries[at].next as usize;
    }
    found
}
