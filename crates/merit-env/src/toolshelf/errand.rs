//! What is asked for: tools of a shelf, one after the other, in words that may be others or left out.

use super::shelf::{SIZES, Shelf, Takes, UNITS, part};
use merit_core::Stream;
use serde::{Deserialize, Serialize};

/// One thing that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// The place of the tool on the shelf.
    pub tool: u32,
    /// Whether domain, verb and object are said by their other words.
    pub other_words: [bool; 3],
    /// Whether the unit is left out.
    pub vague: bool,
    /// The part that is left out as well, where the others still mean one tool: 0 the domain, 1 the verb, 2 the object.
    pub left_out: Option<u8>,
}

/// The puzzle of a task: tools to be used one after the other, each on what the one before gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errand {
    /// What is asked for, in order; 1 to 3.
    pub needs: Vec<Need>,
    /// What the first tool is given, 1 to 9.
    pub number: u32,
    /// The size that every tool is given which takes one.
    pub size: u8,
}

impl Errand {
    /// Draws needs for `size` tools of a shelf.
    pub fn draw(size: u32, shelf: &Shelf, [vague, synonyms, skew]: [f64; 3], rng: &mut Stream) -> Self {
        let weights: Vec<f64> = (0..shelf.tools.len()).map(|rank| (rank as f64 + 1.0).powf(-skew)).collect();
        let all: f64 = weights.iter().sum();
        let need = |_| {
            let mut left = rng.unit() * all;
            let drawn = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            let tool = drawn.unwrap_or_default() as u32;
            let other_words = [0; 3].map(|_| rng.chance(synonyms));
            let vague = rng.chance(vague);
            let mut parts = [0_u8, 1, 2];
            rng.shuffle(&mut parts);
            let unique = |part: &u8| shelf.tool(tool).is_some_and(|tool| shelf.meant(tool, Some(*part)) == 1);
            let left_out = parts.into_iter().find(unique).filter(|_| vague);
            Need { tool, other_words, vague, left_out }
        };
        let needs = (0..size).map(need).collect();
        Self { needs, number: 1 + rng.below(9) as u32, size: rng.below(SIZES.len() as u64) as u8 }
    }

    /// The lines that each tool takes and what it gives, in order.
    pub fn course(&self, shelf: &Shelf) -> Vec<(u32, String, u32)> {
        let mut number = self.number;
        let step = |need: &Need| {
            let arguments = shelf.tool(need.tool)?.takes.given(number, self.size);
            number = shelf.run(need.tool, &arguments)?;
            Some((need.tool, arguments, number))
        };
        self.needs.iter().filter_map(step).collect()
    }

    /// What is asked for; the same words in another order where it is shifted.
    pub fn said(&self, shelf: &Shelf, shifted: bool) -> String {
        let need = |need: &Need| {
            let Some(tool) = shelf.tool(need.tool) else { return String::new() };
            let word = |at: u8| {
                let at = usize::from(at);
                Some(part(at, tool.parts[at], need.other_words[at]))
                    .filter(|_| need.left_out != Some(at as u8))
            };
            let act: Vec<&str> = [word(1), word(2)].into_iter().flatten().collect();
            let unit = UNITS.get(usize::from(tool.unit)).filter(|_| !need.vague);
            let place = word(0).map(|word| format!("at {word}"));
            let unit = unit.map(|unit| format!("by {unit}"));
            let act = Some(act.join(" "));
            let said = if shifted { [unit, place, act] } else { [act, place, unit] };
            said.into_iter().flatten().collect::<Vec<String>>().join(" ")
        };
        let needs: Vec<String> = self.needs.iter().map(need).collect();
        let given = Takes::NumSize.given(self.number, self.size);
        if shifted {
            format!("for {given} need {}", needs.join(" then "))
        } else {
            format!("need {} for {given}", needs.join(" then "))
        }
    }

    /// What is wrong with an errand that comes from a file.
    pub fn check(&self, size: u32, shelf: &Shelf) -> Result<(), String> {
        if self.needs.len() != size as usize || !(1..=3).contains(&size) {
            return Err(format!("{} tools are needed, its size is {size}", self.needs.len()));
        }
        if !(1..=9).contains(&self.number) || usize::from(self.size) >= SIZES.len() {
            return Err("it gives a number or a size that there is not".to_owned());
        }
        for need in &self.needs {
            let Some(tool) = shelf.tool(need.tool) else {
                return Err(format!("tool {} is needed, but the shelf has {}", need.tool, shelf.tools.len()));
            };
            let left_out =
                need.left_out.filter(|part| *part > 2 || !need.vague || shelf.meant(tool, Some(*part)) != 1);
            if let Some(part) = left_out {
                return Err(format!("part {part} is left out, and what remains does not mean one tool"));
            }
        }
        Ok(())
    }
}
