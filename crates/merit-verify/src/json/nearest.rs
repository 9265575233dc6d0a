//! The known name that a wrong one was probably meant to be.

/// Names longer than this are not compared: the distance costs the product of both lengths.
const LONGEST: usize = 64;

/// The most similar of `known`, when it is similar enough to be what was meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    if name.len() > LONGEST {
        return None;
    }
    let near = known.into_iter().filter(|k| k.len() <= LONGEST);
    let (distance, best) =
        near.map(|k| (strsim::damerau_levenshtein(name, k), k)).min_by_key(|(d, k)| (*d, k.len()))?;
    let room = name.chars().count().max(best.chars().count());
    (distance * 2 <= room).then(|| best.to_owned())
}
