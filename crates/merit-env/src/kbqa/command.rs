//! What can be said in each mode, and how it is read.

use super::masks::names_of;
use super::question::{Fact, NAMES, RELATIONS, name_of, relation_of};
use super::{Kbqa, Mode};
use merit_api::CommandCard;

/// The most facts in a note.
pub(super) const MAX_NOTE: usize = 12;
/// The most searches in a turn of the planner.
const MAX_QUERIES: usize = 2;

/// A search for a relation of an entity; `indexed` where the relation has the word that bases use.
pub(super) struct Query {
    pub(super) entity: u8,
    pub(super) relation: u8,
    pub(super) indexed: bool,
}

pub(super) enum Unit {
    Observed(Fact),
    Supposed(u8),
    Next(u8),
}

pub(super) enum Command {
    Find(Vec<Query>),
    Note(Vec<Fact>),
    Unit(Unit),
    Answer(u8),
    Fill(Vec<u8>),
    Stop,
}

fn fact_of(words: &[&str]) -> Option<Fact> {
    let [of, relation, is] = words else { return None };
    Some(Fact(name_of(of)?, relation_of(relation)?.0, name_of(is)?))
}

fn queries_of(words: &[&str], most: usize) -> Option<Command> {
    let query = |words: &[&str]| {
        let [entity, relation] = words else { return None };
        let (relation, indexed) = relation_of(relation)?;
        Some(Query { entity: name_of(entity)?, relation, indexed })
    };
    let queries: Vec<Query> = words.chunks(2).map(query).collect::<Option<_>>()?;
    (1..=most).contains(&queries.len()).then_some(Command::Find(queries))
}

fn note_of(words: &[&str]) -> Option<Command> {
    if words == ["none"] {
        return Some(Command::Note(Vec::new()));
    }
    let facts: Vec<Fact> = words.chunks(3).map(fact_of).collect::<Option<_>>()?;
    (1..=MAX_NOTE).contains(&facts.len()).then_some(Command::Note(facts))
}

impl Kbqa {
    pub(super) fn command(&self, text: &str) -> Option<Command> {
        if text.contains(['\n', '\r']) {
            return None;
        }
        let words: Vec<&str> = text.split_whitespace().take(NAMES.len() + 2).collect();
        let (verb, rest) = words.split_first()?;
        let word = || if let [word] = rest { Some(*word) } else { None };
        match (*verb, self.mode) {
            ("find", Mode::Planner) => queries_of(rest, MAX_QUERIES),
            ("find", _) => queries_of(rest, 1),
            ("stop", Mode::Planner) => rest.is_empty().then_some(Command::Stop),
            ("answer", Mode::Answer | Mode::Notes | Mode::Units) => name_of(word()?).map(Command::Answer),
            ("fill", _) if self.has_masks() => names_of(rest).map(Command::Fill),
            ("note", Mode::Notes) => note_of(rest),
            ("obs", Mode::Units) => Some(Command::Unit(Unit::Observed(fact_of(rest)?))),
            ("hyp", Mode::Units) => Some(Command::Unit(Unit::Supposed(name_of(word()?)?))),
            ("next", Mode::Units) => Some(Command::Unit(Unit::Next(relation_of(word()?)?.0))),
            _ => None,
        }
    }

    pub(super) fn hint(&self) -> &'static str {
        match self.mode {
            Mode::Mask => "say find NAME RELATION or fill NAMES",
            Mode::Answer if self.has_masks() => "say find NAME RELATION, answer NAME or fill NAMES",
            Mode::Answer => "say find NAME RELATION or answer NAME",
            Mode::Notes => "say find NAME RELATION, note FACTS or answer NAME",
            Mode::Units => "say obs FACT, hyp NAME, next RELATION, find NAME RELATION or answer NAME",
            Mode::Planner => "say find NAME RELATION or stop",
        }
    }

    pub(super) fn manual(&self) -> String {
        let words: Vec<String> = RELATIONS.iter().map(|(word, other)| format!("{word} ({other})")).collect();
        let rest = match self.mode {
            Mode::Mask => "`fill NAMES` ends it.",
            Mode::Answer if self.has_masks() => "`answer NAME` or `fill NAMES` ends it.",
            Mode::Answer => "`answer NAME` ends it.",
            Mode::Notes => {
                "After every search say `note` with the facts that you keep, as in `note bak boss dov`, or `note none`. `answer NAME` \
                 ends it."
            }
            Mode::Units => {
                "Between searches tell what you think, one line each: `obs bak boss dov`, `hyp dov`, `next home`. `answer NAME` ends it. A \
                 line that cannot be read ends it, too."
            }
            Mode::Planner => {
                "You may search two things at once: `find bak boss dov home`. Somebody else reads what you found and answers; say `stop` \
                 when that is enough. Search as little as you can."
            }
        };
        let who = "`who bak boss home` asks for the home of the boss of bak. ";
        let fill = "`fill bak boss _ home lux` hides the boss of bak; name whoever is hidden, in their order, and nobody else. ";
        let (who, fill) =
            (if self.mode == Mode::Mask { "" } else { who }, if self.has_masks() { fill } else { "" });
        let label = if self.label.is_none() {
            ""
        } else {
            "`look who` says that you have to search, `tell who` that you know it by heart. "
        };
        format!(
            "{who}{label}{fill}Say one line per turn. `find bak boss` searches for the boss of bak \
             and finds facts such as `bak boss dov`, some of them beside the point. Relations, and other words for them that a search does \
             not know: {}. {rest}",
            words.join(", ")
        )
    }

    /// The commands of its mode as cards.
    pub(super) fn cards(&self) -> Vec<CommandCard> {
        let relations = || RELATIONS.iter().flat_map(|(word, other)| [*word, *other]);
        let find = CommandCard::new("find", "Search for the relation of a name.")
            .word("name", "whose relation it is")
            .one_of("relation", "what to search for", relations());
        let find = match self.mode {
            Mode::Planner => find
                .word("other_name", "a second search in the same turn")
                .optional()
                .one_of("other_relation", "what to search for then", relations())
                .optional()
                .example("find bak boss dov home"),
            _ => find.example("find bak boss"),
        };
        let of_name = |name: &str, summary: &str| {
            CommandCard::new(name, summary).word("name", "a name").example(&format!("{name} lux"))
        };
        let own = match self.mode {
            Mode::Answer | Mode::Mask => Vec::new(),
            Mode::Notes => vec![
                CommandCard::new("note", "Note the facts that you keep.")
                    .text("facts", "facts of three words with spaces between, or none")
                    .example("note bak boss dov"),
            ],
            Mode::Units => vec![
                CommandCard::new("obs", "Tell a fact that you saw.")
                    .word("name", "whose relation it is")
                    .one_of("relation", "the relation", relations())
                    .word("other", "who that is")
                    .example("obs bak boss dov"),
                of_name("hyp", "Tell who you think it is."),
                CommandCard::new("next", "Tell what you look for next.")
                    .one_of("relation", "a relation", relations())
                    .example("next home"),
            ],
            Mode::Planner => vec![CommandCard::new("stop", "Search no more, which ends it.").example("stop")],
        };
        let answers = matches!(self.mode, Mode::Answer | Mode::Notes | Mode::Units);
        let answer = answers.then(|| of_name("answer", "Give the answer, which ends it."));
        let fill = self.has_masks().then(|| {
            CommandCard::new("fill", "Name everybody who is hidden, which ends it.")
                .text("names", "their names in order, with spaces between")
                .example("fill dov tal")
        });
        [find].into_iter().chain(own).chain(answer).chain(fill).collect()
    }
}
