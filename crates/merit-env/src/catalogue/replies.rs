//! Items of a catalogue, and replies about them in JSON: one turn, one object, exactly the fields that were asked for.
//!
//! The prompt tells an item's fields in any order, more of them than are wanted, and then which are: `mass 7 hue red box 3 4 parts oak
//! tin want parts hue`. The reply is one object: `{"hue":"red","parts":["oak","tin"]}`. The task carries a JSON Schema of the reply and
//! the reply itself, for rewards and for decoding under a grammar. Any line with an opening brace is a reply; what it is worth is the reward's to say.

use super::schema::ReplySchema;
use merit_api::{Demonstration, Manner, NoState, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Split, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(super) const HUES: [&str; 6] = ["red", "blue", "green", "pink", "grey", "black"];
pub(super) const WOODS: [&str; 6] = ["oak", "pine", "elm", "ash", "fir", "yew"];
pub(super) const PARTS: [&str; 8] = ["leg", "lid", "top", "rod", "pin", "cap", "rim", "bolt"];
/// The fields of an item, in the order in which the expert writes them.
pub const FIELDS: [&str; 6] = ["box", "cost", "hue", "mass", "parts", "wood"];

const HINT: &str = "reply with one JSON object";

/// The settings of `catalogue`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Catalogue {
    /// Fields that training tasks ask for, dealt in turn; 1 to 6.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Catalogue {
    fn default() -> Self {
        Self { sizes: vec![3, 4, 5, 6], held_out_sizes: Vec::new(), instructions: false }
    }
}

impl Component for Catalogue {
    const ABOUT: About = About {
        name: "catalogue",
        summary: "An item of a catalogue to be put into a JSON object: the fields that were asked for, and no others.",
        paper: "RL-Struct (2025)",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list how many fields are asked for, as in [3, 4]"));
        }
        let known = 1..=FIELDS.len() as u32;
        match self.sizes.iter().chain(&self.held_out_sizes).find(|size| !known.contains(size)) {
            Some(size) => Err(Refusal::new(format!("a size of {size}; give 1 to 6 fields"))),
            None => Ok(()),
        }
    }
}

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The item, all of its fields.
    pub item: Map<String, Value>,
    /// The order in which its fields are told, by their places in [`FIELDS`].
    pub told: [u8; 6],
    /// The fields that are wanted, in the order in which they are asked for.
    pub wanted: Vec<String>,
    pub reply: Value,
    /// What a reply has to be: the wanted fields with their types, and no others.
    pub schema: ReplySchema,
}

/// An item's field as it is told: a box as two numbers, parts as words.
fn told(name: &str, value: &Value) -> String {
    let words = |value: &Value| match value {
        Value::String(word) => word.clone(),
        other => other.to_string(),
    };
    let said: Vec<String> = match value {
        Value::Object(sides) => ["w", "h"].iter().filter_map(|side| sides.get(*side)).map(words).collect(),
        Value::Array(parts) => parts.iter().map(words).collect(),
        one => vec![words(one)],
    };
    format!("{name} {}", said.join(" "))
}

/// Whether a reply gives these fields of an item, which has them all.
fn is_reply(reply: &Value, item: &Map<String, Value>, wanted: &[String]) -> bool {
    let Some(reply) = reply.as_object() else { return false };
    let mut fields = FIELDS.iter().filter(|name| wanted.iter().any(|asked| asked == *name));
    fields.clone().count() == reply.len() && fields.all(|name| reply.get(*name) == item.get(*name))
}

fn reply_of(item: &Map<String, Value>, wanted: &[String]) -> Value {
    let fields = FIELDS.iter().filter(|name| wanted.iter().any(|asked| asked == *name));
    fields
        .filter_map(|name| Some(((*name).to_owned(), item.get(*name)?.clone())))
        .collect::<Map<_, _>>()
        .into()
}

/// The share of rules about the surface that a line keeps: it begins with `{`, ends with `}`, has no fence, and its quotes are even.
fn surface(text: &str) -> f64 {
    let kept = [
        text.starts_with('{'),
        text.ends_with('}'),
        !text.contains('`'),
        text.matches('"').count().is_multiple_of(2),
    ];
    kept.iter().filter(|rule| **rule).count() as f64 / kept.len() as f64
}

impl TextGame for Catalogue {
    type Puzzle = Request;
    type State = NoState;
    const MANNERS: &'static [Manner] = &[
        Manner::new("exact", "Writes the object: right."),
        Manner::new("bare", "Leaves the quotes off its words, so that it is no JSON."),
        Manner::new("chatty", "Says `here` before the object, so that the whole is no JSON."),
        Manner::new(
            "short",
            "Leaves one of the wanted fields out, or gives an empty object where one is wanted.",
        ),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Request {
        let mut word = |words: &[&str]| {
            words.get(rng.below(words.len() as u64) as usize).copied().unwrap_or_default().to_owned()
        };
        let (hue, wood) = (word(&HUES), word(&WOODS));
        let mut parts = PARTS;
        rng.shuffle(&mut parts);
        let parts = &parts[..1 + rng.below(3) as usize];
        let sides = json!({ "h": 1 + rng.below(9), "w": 1 + rng.below(9) });
        let (cost, mass) = (1 + rng.below(99), 1 + rng.below(99));
        let item =
            json!({ "box": sides, "cost": cost, "hue": hue, "mass": mass, "parts": parts, "wood": wood });
        let item = item.as_object().cloned().unwrap_or_default();
        let mut order = [0, 1, 2, 3, 4, 5];
        rng.shuffle(&mut order);
        let told = order;
        rng.shuffle(&mut order);
        let wanted = order.iter().take(size as usize).map(|place| FIELDS[usize::from(*place)].to_owned());
        let wanted: Vec<String> = wanted.collect();
        let schema = ReplySchema::of(&wanted).unwrap_or_default();
        Request { told, reply: reply_of(&item, &wanted), schema, item, wanted }
    }

    fn identity(&self, request: &Request) -> String {
        // Another order of the same facts and wishes is the same request.
        request.reply.to_string()
    }

    fn check_puzzle(&self, request: &Request, size: u32) -> Result<(), String> {
        let mut order = request.told;
        order.sort_unstable();
        if order != [0, 1, 2, 3, 4, 5] {
            return Err("the order in which fields are told does not name each of six once".to_owned());
        }
        if let Some(name) = FIELDS.iter().find(|name| !request.item.contains_key(**name)) {
            return Err(format!("the item has no `{name}`"));
        }
        if let Some(name) = request.wanted.iter().find(|name| !FIELDS.contains(&name.as_str())) {
            return Err(format!("`{name}` is wanted, which is no field"));
        }
        if request.wanted.len() != size as usize {
            return Err(format!("{} fields are wanted, its size is {size}", request.wanted.len()));
        }
        if !is_reply(&request.reply, &request.item, &request.wanted) {
            return Err("the reply is not what the item and the wanted fields give".to_owned());
        }
        let right = ReplySchema::of(&request.wanted).is_some_and(|right| right == request.schema);
        if !right {
            return Err("the schema is not that of the wanted fields".to_owned());
        }
        Ok(())
    }

    fn prompt(&self, request: &Request) -> String {
        let names = request.told.iter().filter_map(|place| FIELDS.get(usize::from(*place)));
        let facts: Vec<String> =
            names.filter_map(|name| Some(told(name, request.item.get(*name)?))).collect();
        format!("{} want {}", facts.join(" "), request.wanted.join(" "))
    }

    fn answer(&self, request: &Request) -> Option<String> {
        Some(request.reply.to_string())
    }

    fn instructions(&self) -> Option<String> {
        let text = "You are told an item: box (width and height), cost, hue, mass, parts (a list) and wood. Reply with one line: a JSON object \
                    with exactly the fields after `want`, for example {\"box\":{\"h\":4,\"w\":3},\"hue\":\"red\",\"parts\":[\"leg\",\"lid\"]}. \
                    Numbers are numbers, everything else is text. Write nothing but the object.";
        self.instructions.then(|| text.to_owned())
    }

    fn parse(&self, text: &str) -> Action {
        let reply = line(text).trim();
        if !reply.contains('{') || reply.chars().any(char::is_control) {
            return Action::Malformed { why: HINT.to_owned() };
        }
        Action::Answer { text: reply.to_owned() }
    }

    fn step(&self, _: &Request, _: &mut NoState, action: &Action, _: &[CallRecord]) -> StepResult {
        match action {
            Action::Answer { text } => {
                StepResult::default().answered().with_info([("surface", surface(text))])
            }
            Action::Malformed { why } => StepResult::saying(why.clone()).with_info([("surface", 0.0)]),
            _ => StepResult::saying(HINT).with_info([("surface", 0.0)]),
        }
    }

    fn schema(&self, request: &Request) -> Option<Value> {
        Some(request.schema.value().clone())
    }

    fn expert(&self, request: &Request, play: &Demonstration<'_>) -> Option<String> {
        let right = request.reply.to_string();
        Some(match play.manner.unwrap_or(if play.is_correct() { "exact" } else { "short" }) {
            "bare" => right.replace('"', ""),
            "chatty" => format!("here {right}"),
            "short" => {
                let left_out =
                    play.seed.child("left out", 0).stream().below(request.wanted.len().max(1) as u64);
                let mut fields = request.reply.as_object().cloned().unwrap_or_default();
                if let Some(name) = request.wanted.get(left_out as usize) {
                    fields.remove(name);
                }
                Value::from(fields).to_string()
            }
            _ => right,
        })
    }
}
