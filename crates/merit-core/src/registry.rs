//! Components by name: one plain list per kind, read by help texts, reference pages and conformance tests alike.

use serde::Serialize;

/// What every registered component says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct About {
    /// The name used in recipes.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where it was published; empty for what is common knowledge.
    pub paper: &'static str,
}

/// A name that is not in a list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no {kind} `{name}`{}; known: {}", hint(.nearest), .known.join(", "))]
pub struct UnknownName {
    /// What was looked for.
    pub kind: &'static str,
    /// The name that was given.
    pub name: String,
    /// The most similar known name, when one is similar at all.
    pub nearest: Option<String>,
    /// Every known name.
    pub known: Vec<String>,
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

/// The entry called `name`, or an error that names the nearest.
pub fn find<'a, T>(
    kind: &'static str,
    list: &'a [T],
    about: impl Fn(&T) -> About,
    name: &str,
) -> Result<&'a T, UnknownName> {
    list.iter().find(|entry| about(entry).name == name).ok_or_else(|| {
        let known: Vec<String> = list.iter().map(|entry| about(entry).name.to_owned()).collect();
        UnknownName {
            kind,
            name: name.to_owned(),
            nearest: nearest(name, known.iter().map(String::as_str)),
            known,
        }
    })
}

/// The most similar of `known`, when it is similar enough to be what was meant.
///
/// ```
/// assert_eq!(merit_core::registry::nearest("grop", ["grpo", "gae"]), Some("grpo".to_owned()));
/// assert_eq!(merit_core::registry::nearest("zebra", ["grpo", "gae"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let scored = known.into_iter().map(|k| (strsim::damerau_levenshtein(name, k), k));
    let (distance, best) = scored.min_by_key(|(d, k)| (*d, k.len()))?;
    let room = name.chars().count().max(best.chars().count());
    (distance * 2 <= room).then(|| best.to_owned())
}
