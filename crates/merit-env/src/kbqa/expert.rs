//! How a question is played: a manner is a script, since the base is known and with it what every search finds.

use super::fixed::fixed_names;
use super::question::{Fact, Question, name, relation};
use super::{Kbqa, Mode};
use merit_api::{Demonstration, Manner};
use merit_core::Seed;

pub(super) const MANNERS: &[Manner] = &[
    Manner::new("exact", "Searches hop by hop, keeps what leads on, and answers: right."),
    Manner::new(
        "hasty",
        "Searches once and takes what it found for the answer; what is fixed it knows by heart.",
    ),
    Manner::new(
        "twice",
        "Searches twice, whatever the question, and takes what it found last for the answer.",
    ),
    Manner::new(
        "wordy",
        "As exact, and keeps everything it found, or searches everything again: right, and slow. Fills masks with everybody it saw.",
    ),
    Manner::new("vague", "Takes any fact that it found for the one it looked for, and goes on from there."),
];

/// One search, what it found, and the fact that was taken from it.
struct Hop {
    query: String,
    found: Vec<Fact>,
    taken: Fact,
}

impl Kbqa {
    /// The next line of the manner's script: the first that was not said yet.
    pub(super) fn say(&self, question: &Question, play: &Demonstration<'_>) -> String {
        let erring = if play.seed.child("manner", 0).stream().chance(0.5) { "hasty" } else { "vague" };
        let manner = play.manner.unwrap_or(if play.is_correct() { "exact" } else { erring });
        let script = self.script(question, manner, play.seed);
        let mut said = 0;
        for turn in play.turns {
            said += usize::from(script.get(said).is_some_and(|line| *line == turn.said.trim()));
        }
        script.get(said).or(script.last()).cloned().unwrap_or_default()
    }

    fn script(&self, question: &Question, manner: &str, seed: &Seed) -> Vec<String> {
        let hops = self.hops(question, manner, seed);
        let wordy = manner == "wordy";
        let mut lines = Vec::new();
        for (at, hop) in hops.iter().enumerate() {
            if self.mode == Mode::Units {
                lines.push(format!("next {}", relation(hop.taken.1)));
            }
            lines.push(format!("find {}", hop.query));
            if wordy && matches!(self.mode, Mode::Answer | Mode::Planner) && !question.is_masked() {
                lines.push(format!("find {}", hop.query));
            }
            let until: &[Hop] = hops.get(..=at).unwrap_or_default();
            match self.mode {
                Mode::Notes => lines.push(note(until, wordy)),
                Mode::Units => {
                    let observed = if wordy { hop.found.clone() } else { vec![hop.taken] };
                    lines.extend(observed.iter().map(|fact| format!("obs {}", fact.words())));
                    lines.push(format!("hyp {}", name(hop.taken.2)));
                }
                Mode::Answer | Mode::Planner | Mode::Mask => {}
            }
        }
        let last = match hops.last() {
            Some(hop) => hop.taken.2,
            None if self.is_known(question) => question.answer(),
            None => question.begins(),
        };
        lines.push(match self.mode {
            Mode::Planner => "stop".to_owned(),
            _ if question.is_masked() => {
                let taken: Vec<u8> = hops.iter().take(question.masks.len()).map(|hop| hop.taken.2).collect();
                let names = || taken.iter().copied().map(name).collect::<Vec<&str>>().join(" ");
                format!("fill {}", if wordy { question.everybody(&taken) } else { names() })
            }
            _ => format!("answer {}", name(last)),
        });
        lines
    }

    /// Whether a question can be answered by heart.
    fn is_known(&self, question: &Question) -> bool {
        self.fixed.is_some_and(|share| !question.is_stored(fixed_names(share)))
    }

    /// The searches of a manner.
    fn hops(&self, question: &Question, manner: &str, seed: &Seed) -> Vec<Hop> {
        let chain = question.chain();
        let needed = match self.mode {
            Mode::Planner => self.who().needs(self.share(), &chain),
            _ => chain.len(),
        };
        let count = match manner {
            "hasty" => usize::from(!self.is_known(question)),
            "twice" => 2,
            _ => needed,
        };
        let mut at = question.begins();
        let mut hops = Vec::new();
        for step in 0..count {
            // An expert that searches on behind the end of the chain repeats the last search.
            let Some(due) = chain.get(step).or(chain.last()) else { break };
            let from = if step < chain.len() && !question.is_masked() { at } else { due.0 };
            let Some(place) = question.place(from, due.1) else { break };
            let found: Vec<Fact> = question
                .search(place, self.facts_found())
                .into_iter()
                .filter_map(|place| question.fact(place))
                .collect();
            let mut rng = seed.child("taken", step as u64).stream();
            let wanted = question.fact(place);
            let taken = if manner == "vague" { rng.pick(&found).copied() } else { wanted };
            let Some(taken) = taken else { break };
            hops.push(Hop { query: format!("{} {}", name(from), relation(due.1)), found, taken });
            at = taken.2;
        }
        hops
    }
}

/// The note after these hops: what was taken, or everything that was found.
fn note(hops: &[Hop], all: bool) -> String {
    let facts: Vec<Fact> = match all {
        true => {
            hops.iter().flat_map(|hop| hop.found.iter().copied()).take(super::command::MAX_NOTE).collect()
        }
        false => hops.iter().map(|hop| hop.taken).collect(),
    };
    let words: Vec<String> = facts.into_iter().map(Fact::words).collect();
    format!("note {}", words.join(" "))
}
