//! What to draw, and the drawing.

use super::number::{Decimals, Integers};
use merit_core::Stream;
use serde_json::{Map, Value};

/// Words that texts are made of.
const WORDS: &[&str] = &[
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor", "island", "juniper", "kettle",
    "lantern", "meadow", "nimbus", "orchid", "pebble", "quartz", "river", "saffron", "timber", "umbra",
    "valley", "willow", "zephyr",
];
/// Draws of one element that may repeat another before it is given up.
const TRIES: usize = 64;
/// Of a hundred, how often a property that may be left out is there.
const OPTIONAL_PERCENT: u64 = 75;

/// A kind of value to draw.
#[derive(Debug, Clone)]
pub(super) enum Plan {
    Values(Vec<Value>),
    Bool,
    Integer(Integers),
    /// A number with at most two decimals where the bounds have room for them.
    Number(Decimals),
    /// Words of this many characters at least and at most.
    Text {
        least: usize,
        most: Option<usize>,
    },
    /// A list of values of one kind.
    Array {
        first: Vec<Plan>,
        rest: Box<Plan>,
        least: usize,
        most: usize,
        is_unique: bool,
    },
    /// Properties, and whether each has to be there.
    Object(Vec<(String, Plan, bool)>),
    OneOf(Vec<Plan>),
}

impl Plan {
    /// Draws a value. Plans are finite trees, as deep as the schema.
    pub(super) fn draw(&self, stream: &mut Stream) -> Value {
        match self {
            Self::Values(values) => stream.pick(values).cloned().unwrap_or_default(),
            Self::Bool => Value::Bool(stream.chance(0.5)),
            Self::Integer(integers) => integers.draw(stream),
            Self::Number(decimals) => decimals.draw(stream),
            Self::Text { least, most } => Value::String(text(*least, *most, stream)),
            Self::Array { first, rest, least, most, is_unique } => {
                let span = most.saturating_sub(*least) as u64;
                let count = least + stream.below(span + 1) as usize;
                array(first, rest, count, *is_unique, stream)
            }
            Self::Object(properties) => {
                let mut map = Map::new();
                for (name, plan, is_required) in properties {
                    let is_there = *is_required || stream.below(100) < OPTIONAL_PERCENT;
                    // Drawn in any case, so that one property does not change the others.
                    let value = plan.draw(stream);
                    if is_there {
                        map.insert(name.clone(), value);
                    }
                }
                Value::Object(map)
            }
            Self::OneOf(plans) => stream.pick(plans).map_or(Value::Null, |plan| plan.draw(stream)),
        }
    }
}

fn array(first: &[Plan], rest: &Plan, count: usize, is_unique: bool, stream: &mut Stream) -> Value {
    let mut items: Vec<Value> = Vec::with_capacity(count);
    for i in 0..count {
        let plan = first.get(i).unwrap_or(rest);
        let tries = if is_unique { TRIES } else { 1 };
        let fresh = (0..tries).map(|_| plan.draw(stream)).find(|item| !is_unique || !items.contains(item));
        match fresh {
            Some(item) => items.push(item),
            None => break,
        }
    }
    Value::Array(items)
}

fn text(least: usize, most: Option<usize>, stream: &mut Stream) -> String {
    let mut text = String::new();
    let words = 1 + stream.below(3) as usize;
    for i in 0.. {
        if i >= words && text.len() >= least {
            break;
        }
        if i > 0 {
            text.push(' ');
        }
        text.push_str(stream.pick(WORDS).copied().unwrap_or("word"));
    }
    // The words are ASCII, so bytes are characters.
    text.truncate(most.unwrap_or(usize::MAX));
    text
}
