//! Whether the text has the tags it should: each once, closed, in order, none inside another, each with something in it.
//!
//! `tags = ["think", "tool_call|answer"]` asks for `<think>…</think>` and then one of `<tool_call>…` and `<answer>…`. Tags
//! with nothing in them do not count, so the bare shape of an answer earns nothing here; the shape alone says nothing of being
//! right, so let this gate or multiply. With `each_turn` every turn is judged and told, and the value is their mean.

use super::reading::{Reading, policy_texts};
use crate::prelude::*;

/// 1 where the required tags are there once, closed, in order and with something in them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TagFormat {
    /// The tags in order, by bare name; `a|b` asks for either.
    pub tags: Vec<String>,
    /// Which text is judged. Refused with `each_turn`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
    /// Judge every turn by itself. Else what `reading` says, the last turn unless told.
    #[serde(default)]
    pub each_turn: bool,
    /// Nothing but white space may stand outside the tags.
    #[serde(default)]
    pub nothing_outside: bool,
    /// Pay the share of tags that are right, in order, instead of all or nothing.
    #[serde(default)]
    pub partial: bool,
}

impl Component for TagFormat {
    const ABOUT: About = About {
        name: "tag-format",
        summary: "1 where the required tags are there once, closed, in order and with something in them.",
        paper: "Atom-Searcher: Enhancing Agentic Deep Research via Fine-Grained Atomic Thought Reward (2025), arXiv:2508.12800",
    };
    const EXAMPLE: &'static str = r#"
tags = ["think", "tool_call|answer"]
each_turn = true
"#;

    fn check(&self) -> Result<(), Refusal> {
        if self.tags.is_empty() {
            return Err(Refusal::new("there are no `tags`; list at least one"));
        }
        if self.each_turn && self.reading.is_some() {
            let why =
                "`reading` does nothing with `each_turn`, which looks at every turn; remove one of them";
            return Err(Refusal::new(why));
        }
        Ok(())
    }
}

impl PreparedTerm for TagFormat {
    type Prepared = Tags;

    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn prepare(&self) -> Result<Tags, Refusal> {
        let reading = self.reading.clone().unwrap_or(Reading::LastTurn);
        reading.check()?;
        let slots: Vec<Vec<String>> =
            self.tags.iter().map(|slot| slot.split('|').map(str::to_owned).collect()).collect();
        let mut seen: Vec<&String> = Vec::new();
        for tag in slots.iter().flatten() {
            if tag.is_empty() || !tag.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-')) {
                let why =
                    format!("`{tag}` in `tags` is no bare name of a tag, e.g. `think` or `tool_call|answer`");
                return Err(Refusal::new(why));
            }
            if seen.contains(&tag) {
                return Err(Refusal::new(format!("the tag `{tag}` is listed twice; each may stand once")));
            }
            seen.push(tag);
        }
        let closers = slots.iter().flatten().map(|name| format!("</{name}>")).collect();
        Ok(Tags { reading, slots, closers, nothing_outside: self.nothing_outside, partial: self.partial })
    }

    fn evaluate(&self, tags: &Tags, context: &EvalContext<'_>) -> Result<TermResult, TermResult> {
        if !self.each_turn {
            let text = tags.reading.judged(context.episode)?;
            let (value, finding) = tags.value(&text);
            return Ok(TermResult::value(value, Evidence::new("parsed", finding)));
        }
        let judged: Vec<(f64, String)> = policy_texts(context.episode).map(|text| tags.value(text)).collect();
        if judged.is_empty() {
            return Err(TermResult::not_applicable("there is no turn"));
        }
        let mean = judged.iter().map(|(value, _)| value).sum::<f64>() / judged.len() as f64;
        let wrong = judged.iter().enumerate().find(|(_, (value, _))| *value < 1.0);
        let finding = wrong.map_or_else(
            || format!("all {} turns have their tags", judged.len()),
            |(turn, (_, why))| format!("turn {turn}: {why}"),
        );
        let turns: Vec<Option<f64>> = judged.iter().map(|(value, _)| Some(*value)).collect();
        let value = TermResult::value(mean, Evidence::new("parsed", finding));
        Ok(if turns.len() == context.episode.turns.len() { value.with_turns(turns) } else { value })
    }
}

/// The tags, ready to be looked for.
pub struct Tags {
    reading: Reading,
    /// For each place, the tags that may stand there.
    slots: Vec<Vec<String>>,
    /// What closes any of them.
    closers: Vec<String>,
    nothing_outside: bool,
    partial: bool,
}

impl Tags {
    fn value(&self, text: &str) -> (f64, String) {
        let (right, why) = self.read(text);
        let share = right as f64 / self.slots.len() as f64;
        match why {
            None => (1.0, format!("{right} tags, closed and in order")),
            Some(why) => (if self.partial { share } else { 0.0 }, why),
        }
    }

    /// How many places are right, in order, and the first thing that is wrong.
    fn read(&self, text: &str) -> (usize, Option<String>) {
        let mut rest = text;
        for (at, slot) in self.slots.iter().enumerate() {
            let Some((before, tag, after)) = self.next_opening(rest) else {
                return (at, Some(format!("<{}> is not there", slot.join("> or <"))));
            };
            if !slot.iter().any(|name| name == tag) {
                return (at, Some(format!("<{tag}> stands where <{}> should", slot.join("> or <"))));
            }
            if let Some(why) = self.outside(before) {
                return (at, Some(why));
            }
            let Some((inside, behind)) = after.split_once(&format!("</{tag}>")) else {
                return (at, Some(format!("<{tag}> is never closed")));
            };
            if self.next_opening(inside).is_some() || self.closes(inside) {
                return (at, Some(format!("another tag stands inside <{tag}>")));
            }
            if inside.trim().is_empty() {
                return (at, Some(format!("there is nothing in <{tag}>")));
            }
            rest = behind;
        }
        let count = self.slots.len();
        if let Some((_, tag, _)) = self.next_opening(rest) {
            // Doing it all over again must not earn what doing it once does.
            return (0, Some(format!("<{tag}> stands there once more")));
        }
        match self.outside(rest) {
            Some(why) => (count - 1, Some(why)),
            None => (count, None),
        }
    }

    /// The first listed tag that opens: what stands before it, its name, what comes after.
    fn next_opening<'a, 'b>(&'b self, text: &'a str) -> Option<(&'a str, &'b str, &'a str)> {
        text.match_indices('<').find_map(|(at, _)| {
            let inner = text.get(at + 1..)?;
            let named =
                |name: &&String| inner.strip_prefix(name.as_str()).is_some_and(|r| r.starts_with('>'));
            let name = self.slots.iter().flatten().find(named)?;
            Some((text.get(..at)?, name.as_str(), inner.get(name.len() + 1..)?))
        })
    }

    fn closes(&self, text: &str) -> bool {
        text.contains("</") && self.closers.iter().any(|closer| text.contains(closer.as_str()))
    }

    fn outside(&self, text: &str) -> Option<String> {
        if self.closes(text) {
            return Some("a tag is closed that is not open".to_owned());
        }
        let stray = self.nothing_outside && !text.trim().is_empty();
        stray.then(|| "there is text outside the tags".to_owned())
    }
}
