//! Finding a name in a list, and saying which one was probably meant.

use super::About;

/// Names of more bytes are not compared.
const LONGEST: usize = 64;

/// A name that is not in a list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {kind} `{name}`{}; {}", hint(.nearest), choices(.known))]
pub struct UnknownName {
    /// What the list holds, e.g. `credit rule`.
    pub kind: &'static str,
    /// The name that was given.
    pub name: String,
    /// The most similar known name, when one is similar at all.
    pub nearest: Option<String>,
    /// Every known name, where they are few. Empty: those of the registry.
    pub known: Vec<String>,
}

impl UnknownName {
    /// The error for `name`, which is none of the registered `known`.
    pub fn among<'a>(kind: &'static str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        Self { kind, name: name.to_owned(), nearest: nearest(name, known), known: Vec::new() }
    }
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn choices(known: &[String]) -> String {
    match known {
        [] => "`merit list` shows what there is".to_owned(),
        known => format!("known: {}", known.join(", ")),
    }
}

/// The entry called `name`, or an error that names the nearest.
pub fn find<'a, T>(
    kind: &'static str,
    list: &'a [T],
    about: impl Fn(&T) -> About,
    name: &str,
) -> Result<&'a T, UnknownName> {
    list.iter()
        .find(|entry| about(entry).name == name)
        .ok_or_else(|| UnknownName::among(kind, name, list.iter().map(|entry| about(entry).name)))
}

/// The most similar of `known`, when it is similar enough to be what was meant.
///
/// ```
/// assert_eq!(merit_core::registry::nearest("grop", ["grpo", "gae"]), Some("grpo".to_owned()));
/// assert_eq!(merit_core::registry::nearest("zebra", ["grpo", "gae"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // The distance costs the product of both lengths, and names may come from outside.
    let short = |name: &str| name.len() <= LONGEST;
    let known = known.into_iter().filter(|k| short(name) && short(k));
    let scored = known.map(|k| (strsim::damerau_levenshtein(name, k), k));
    let (distance, best) = scored.min_by_key(|(d, k)| (*d, k.len()))?;
    let room = name.chars().count().max(best.chars().count());
    (distance * 2 <= room).then(|| best.to_owned())
}
