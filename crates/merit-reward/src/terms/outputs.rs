//! The share of required outputs that were said to the user, as tau-bench asks for them; by turn of the first saying.
//!
//! An output counts where it stands in what was said as whole words, without regard to case; a number where a number of the
//! same value is said (`1,786.00` is `1786`), never as part of a longer one. A message of more characters or more different
//! numbers than allowed is a list of guesses and says nothing. Tasks that ask for no output make the term not applicable.

use super::number::canonical;
use super::pay::ByTurn;
use super::reading::{Reference, excerpt};
use crate::prelude::*;
use std::collections::BTreeSet;

/// The share of required outputs that were said to the user, as whole words or equal numbers.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outputs {
    /// The outputs: one, or a list.
    #[serde(default = "outputs")]
    pub reference: Reference,
    /// A message with more characters says nothing.
    #[serde(default = "thousands")]
    pub max_chars: usize,
    /// A message with more different numbers says no number.
    #[serde(default = "dozens")]
    pub max_numbers: usize,
    /// What it says of each turn.
    #[serde(default)]
    pub by_turn: ByTurn,
}

impl Component for Outputs {
    const ABOUT: About = About {
        name: "outputs",
        summary: "The share of required outputs that were said to the user, as whole words or equal numbers.",
        paper: "tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains (2024)",
    };
    const EXAMPLE: &'static str = r#"
reference = { pointer = "/outputs" }
max_numbers = 20
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.reference.check()?;
        Refusal::unless(self.max_chars > 0, "max_chars", self.max_chars, "above 0")?;
        Refusal::unless(self.max_numbers > 0, "max_numbers", self.max_numbers, "above 0")
    }
}

impl Term for Outputs {
    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        self.judge(context.episode).unwrap_or_else(|early| early)
    }
}

fn outputs() -> Reference {
    Reference::Pointer("/outputs".to_owned())
}

fn thousands() -> usize {
    4000
}

fn dozens() -> usize {
    40
}

impl Outputs {
    fn judge(&self, episode: &Episode) -> Result<TermResult, TermResult> {
        let from = &self.reference;
        let wanted = from.texts(episode).ok_or_else(|| TermResult::not_applicable(from.missing()))?;
        if wanted.is_empty() {
            return Err(TermResult::not_applicable("the task asks for no output"));
        }
        if let Some(at) = wanted.iter().position(|output| output.trim().is_empty()) {
            return Err(TermResult::broken(format!("required output {at} is blank")));
        }
        let mut open: Vec<Output> = wanted.iter().map(|text| Output::new(text)).collect();
        let mut evidence = Vec::new();
        let mut progress = vec![None; episode.turns.len()];
        for (turn, after) in episode.turns.iter().zip(&mut progress) {
            let (Action::Say { text } | Action::Answer { text }) = &turn.action else { continue };
            if !open.is_empty() && text.chars().nth(self.max_chars).is_none() {
                let said = Said::new(text, self.max_numbers);
                open.retain(|output| {
                    let here = output.is_in(&said);
                    if here {
                        evidence.push(format!("turn {} says `{}`", turn.index, excerpt(output.shown())));
                    }
                    !here
                });
            }
            *after = Some((wanted.len() - open.len()) as f64 / wanted.len() as f64);
        }
        let value = (wanted.len() - open.len()) as f64 / wanted.len() as f64;
        evidence.extend(open.iter().map(|output| format!("`{}` was never said", excerpt(output.shown()))));
        Ok(TermResult::value(value, Evidence::new("compared", evidence.join(", ")))
            .with_turns(self.by_turn.of(progress)))
    }
}

/// A required output, ready to be looked for.
enum Output {
    Number(String),
    Words(String),
}

impl Output {
    fn new(text: &str) -> Self {
        let plain = text.trim().trim_start_matches('$').replace(',', "");
        match canonical(&plain) {
            Some(number) => Self::Number(number),
            None => Self::Words(text.trim().to_lowercase()),
        }
    }

    fn shown(&self) -> &str {
        match self {
            Self::Number(text) | Self::Words(text) => text,
        }
    }

    fn is_in(&self, said: &Said) -> bool {
        match self {
            Self::Number(number) => said.numbers.contains(number),
            Self::Words(words) => has_words(&said.text, words),
        }
    }
}

struct Said {
    text: String,
    /// The different numbers in it; none where there are too many.
    numbers: BTreeSet<String>,
}

impl Said {
    fn new(text: &str, max_numbers: usize) -> Self {
        let text = text.to_lowercase();
        let mut numbers: BTreeSet<String> = numerals(&text).collect();
        if numbers.len() > max_numbers {
            numbers.clear();
        }
        Self { text, numbers }
    }
}

/// The numbers of a text in their canonical spelling. Digits that touch letters belong to a name, such as a flight's.
fn numerals(text: &str) -> impl Iterator<Item = String> {
    let tokens = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | ',' | '-' | ':' | '/')));
    tokens.filter(|token| token.bytes().any(|b| b.is_ascii_digit())).filter_map(|token| {
        let token =
            token.trim_end_matches(['.', ',', ':', '-', '/']).trim_start_matches([',', ':', '/', '-']);
        canonical(&token.replace(',', ""))
    })
}

/// Whether `words` stand in `text` with no letter or digit touching them.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}
