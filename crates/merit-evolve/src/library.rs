//! A library: entries by name, changed only by edits, so that every version can be told and made again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// The kinds of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A text that a model reads before it judges.
    Skill,
    /// A reward expression that is computed and needs no model.
    Check,
    /// A pair that is shown with its verdict.
    Exemplar,
}

impl Kind {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::Check => "check",
            Self::Exemplar => "exemplar",
        }
    }
}

/// One thing that a judge may consult.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Whether it is a skill, a check or an exemplar.
    pub kind: Kind,
    /// One line for people and for the router.
    pub title: String,
    /// Words of which one must be in the task for the entry to be consulted. Empty: always.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<String>,
    /// A text of a skill; a reward expression of a check; a pair of an exemplar.
    pub body: Value,
    /// How much a check counts, below 0 where it speaks against. 1 for what is read.
    #[serde(default = "one")]
    pub weight: f64,
    /// Who made it: `mined`, `llm`, a person.
    pub made_by: String,
}

fn one() -> f64 {
    1.0
}

/// A change of one entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Edit {
    /// Adds an entry under a new id.
    Add {
        /// The name of the entry.
        id: String,
        entry: Entry,
    },
    /// Another body, title or weight for an entry.
    Update {
        /// The name of the entry.
        id: String,
        /// What it is from now on.
        entry: Entry,
    },
    Delete {
        /// The name of the entry.
        id: String,
    },
}

impl Edit {
    /// The entry it is about.
    pub fn id(&self) -> &str {
        match self {
            Self::Add { id, .. } | Self::Update { id, .. } | Self::Delete { id } => id,
        }
    }
}

/// Why an edit does not fit a library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There is one of that name.
    #[error("there is an entry `{0}` already; update it, or give the new one another name")]
    Known(String),
    /// There is none of that name.
    #[error("there is no entry `{0}`")]
    Unknown(String),
    /// It could not be a file.
    #[error(
        "`{0}` cannot be the name of an entry; use letters, digits, `-`, `_` and `.`, and begin with a letter or digit"
    )]
    Name(String),
    /// Its weight is no number.
    #[error("the weight of `{0}` is not a finite number")]
    Weight(String),
}

/// What a judge consults: entries by name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Library {
    entries: BTreeMap<String, Entry>,
}

impl Library {
    /// The entries, by name.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(id, entry)| (id.as_str(), entry))
    }

    /// The entry of that name. Absent: there is none.
    pub fn get(&self, id: &str) -> Option<&Entry> {
        self.entries.get(id)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries whose `when` the task meets.
    pub fn routed<'a>(&'a self, task: &str) -> impl Iterator<Item = (&'a str, &'a Entry)> {
        let task = task.to_lowercase();
        let meets = move |entry: &Entry| {
            entry.when.is_empty() || entry.when.iter().any(|word| task.contains(&word.to_lowercase()))
        };
        self.entries().filter(move |(_, entry)| meets(entry))
    }

    /// The library after these edits, all of them or none.
    pub fn edited(&self, edits: &[Edit]) -> Result<Self, EditError> {
        let mut next = self.clone();
        for edit in edits {
            let known = next.entries.contains_key(edit.id());
            match edit {
                Edit::Add { id, .. } if known => return Err(EditError::Known(id.clone())),
                Edit::Update { id, .. } | Edit::Delete { id } if !known => {
                    return Err(EditError::Unknown(id.clone()));
                }
                Edit::Delete { id } => drop(next.entries.remove(id)),
                Edit::Add { id, entry } | Edit::Update { id, entry } => {
                    next.entries.insert(checked(id, entry)?, entry.clone());
                }
            }
        }
        Ok(next)
    }

    /// The edits that lead from this library to `other`.
    pub fn diff(&self, other: &Self) -> Vec<Edit> {
        let gone = self.entries.keys().filter(|id| !other.entries.contains_key(*id));
        let gone = gone.map(|id| Edit::Delete { id: id.clone() });
        let changed = other.entries.iter().filter_map(|(id, entry)| match self.entries.get(id) {
            None => Some(Edit::Add { id: id.clone(), entry: entry.clone() }),
            Some(known) if known != entry => Some(Edit::Update { id: id.clone(), entry: entry.clone() }),
            Some(_) => None,
        });
        gone.chain(changed).collect()
    }

    /// The first half of a hash over all entries: equal libraries have equal names.
    pub fn hash(&self) -> String {
        let text = serde_json::to_string(&self.entries).unwrap_or_default();
        merit_core::hex(&Sha256::digest(text.as_bytes()))[..16].to_owned()
    }
}

fn checked(id: &str, entry: &Entry) -> Result<String, EditError> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let begins = id.chars().next().is_some_and(|letter| letter.is_ascii_alphanumeric());
    if !begins || !id.chars().all(fits) || id.len() > 120 {
        return Err(EditError::Name(id.to_owned()));
    }
    match entry.weight.is_finite() {
        true => Ok(id.to_owned()),
        false => Err(EditError::Weight(id.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn entry(weight: f64, when: &[&str]) -> Entry {
        Entry {
            kind: Kind::Check,
            title: "t".into(),
            when: when.iter().map(|word| (*word).to_owned()).collect(),
            body: Value::Null,
            weight,
            made_by: "test".into(),
        }
    }

    fn add(id: &str) -> Edit {
        Edit::Add { id: id.into(), entry: entry(1.0, &[]) }
    }

    #[test]
    fn edits_are_made_together_or_not_at_all() {
        let library = Library::default().edited(&[add("a"), add("b")]).unwrap();
        let gone = Edit::Delete { id: "c".into() };
        assert_eq!(
            library.edited(&[Edit::Delete { id: "a".into() }, gone]),
            Err(EditError::Unknown("c".into()))
        );
        assert_eq!(library.edited(&[add("a")]), Err(EditError::Known("a".into())));
        assert_eq!(library.len(), 2);
    }

    #[test]
    fn a_name_is_the_name_of_a_file_and_a_weight_a_number() {
        for name in ["", "../a", "-a", "a b"] {
            let edits = [add(name)];
            assert_eq!(Library::default().edited(&edits), Err(EditError::Name(name.into())));
        }
        let edits = [Edit::Add { id: "a".into(), entry: entry(f64::NAN, &[]) }];
        assert_eq!(Library::default().edited(&edits), Err(EditError::Weight("a".into())));
    }

    #[test]
    fn equal_libraries_have_equal_names_whatever_their_history() {
        let straight = Library::default().edited(&[add("a")]).unwrap();
        let round =
            Library::default().edited(&[add("b"), add("a"), Edit::Delete { id: "b".into() }]).unwrap();
        assert_eq!(straight.hash(), round.hash());
        assert_ne!(straight.hash(), Library::default().hash());
    }

    #[test]
    fn a_diff_leads_to_the_other_library() {
        let one = Library::default().edited(&[add("a"), add("b")]).unwrap();
        let heavier = Edit::Update { id: "b".into(), entry: entry(2.0, &[]) };
        let other = one.edited(&[Edit::Delete { id: "a".into() }, heavier, add("c")]).unwrap();
        assert_eq!(one.edited(&one.diff(&other)).unwrap(), other);
        assert_eq!(one.diff(&one), []);
    }

    #[test]
    fn entries_are_routed_by_words_of_the_task() {
        let edits = [
            Edit::Add { id: "always".into(), entry: entry(1.0, &[]) },
            Edit::Add { id: "sql".into(), entry: entry(1.0, &["SQL", "query"]) },
        ];
        let library = Library::default().edited(&edits).unwrap();
        let routed = |task: &str| library.routed(task).map(|(id, _)| id.to_owned()).collect::<Vec<_>>();
        assert_eq!(routed("Write a sql statement"), ["always", "sql"]);
        assert_eq!(routed("Write a poem"), ["always"]);
    }
}
