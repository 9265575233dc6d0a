//! Matching character by character, without normalisation and without allocation.

use super::{StringConfig, StringRule};

/// Whether `reference` stands in `response` as the config asks.
pub(crate) fn matches(config: StringConfig, response: &str, reference: &str) -> bool {
    match (config.rule, config.ignore_case) {
        (StringRule::Exact, false) => response == reference,
        (StringRule::Prefix, false) => response.starts_with(reference),
        (StringRule::Suffix, false) => response.ends_with(reference),
        (StringRule::Contains, false) => response.contains(reference),
        (rule, true) if response.is_ascii() && reference.is_ascii() => {
            matches_ascii(rule, response.as_bytes(), reference.as_bytes())
        }
        (StringRule::Exact, true) => folded(response).eq(folded(reference)),
        (StringRule::Prefix, true) => starts_folded(response, reference),
        (StringRule::Suffix, true) => {
            let (mut response, mut reference) = (response.chars().rev(), reference.chars().rev());
            reference.all(|want| response.next().is_some_and(|got| same_folded(got, want)))
        }
        (StringRule::Contains, true) => contains_folded(response, reference),
    }
}

fn matches_ascii(rule: StringRule, response: &[u8], reference: &[u8]) -> bool {
    let n = reference.len();
    match rule {
        StringRule::Exact => response.eq_ignore_ascii_case(reference),
        StringRule::Prefix => response.get(..n).is_some_and(|head| head.eq_ignore_ascii_case(reference)),
        StringRule::Suffix => response
            .len()
            .checked_sub(n)
            .and_then(|at| response.get(at..))
            .is_some_and(|tail| tail.eq_ignore_ascii_case(reference)),
        StringRule::Contains => contains_ascii(response, reference),
    }
}

/// Naive search is quadratic on hostile text; past a small size the folded copies are searched instead.
const NAIVE_WORK: usize = 1 << 16;

fn contains_ascii(response: &[u8], reference: &[u8]) -> bool {
    if response.len().saturating_mul(reference.len()) <= NAIVE_WORK {
        return reference.is_empty()
            || response.windows(reference.len()).any(|window| window.eq_ignore_ascii_case(reference));
    }
    let lower = |text: &[u8]| String::from_utf8_lossy(text).to_ascii_lowercase();
    lower(response).contains(&lower(reference))
}

fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

fn same_folded(a: char, b: char) -> bool {
    a == b || a.to_lowercase().eq(b.to_lowercase())
}

fn starts_folded(response: &str, reference: &str) -> bool {
    let mut response = folded(response);
    folded(reference).all(|want| response.next() == Some(want))
}

fn contains_folded(response: &str, reference: &str) -> bool {
    let lower = |text: &str| folded(text).collect::<String>();
    lower(response).contains(&lower(reference))
}

#[cfg(test)]
mod tests {
    use super::StringRule::{Contains, Exact, Prefix, Suffix};
    use super::*;

    fn check(rule: StringRule, ignore_case: bool, response: &str, reference: &str, want: bool) {
        let got = matches(StringConfig { rule, ignore_case }, response, reference);
        assert_eq!(got, want, "{rule:?} {ignore_case} {response:?} {reference:?}");
    }

    #[test]
    fn each_rule_looks_where_it_says() {
        check(Exact, false, "Paris", "Paris", true);
        check(Exact, false, "Paris ", "Paris", false);
        check(Exact, false, "paris", "Paris", false);
        check(Prefix, false, "Paris, France", "Paris", true);
        check(Prefix, false, "In Paris", "Paris", false);
        check(Suffix, false, "In Paris", "Paris", true);
        check(Suffix, false, "Paris.", "Paris", false);
        check(Contains, false, "comParison", "Paris", true);
        check(Contains, false, "London", "Paris", false);
    }

    #[test]
    fn case_is_ignored_when_asked_also_beyond_ascii() {
        for (response, reference) in [("PARIS", "paris"), ("ÉTÉ", "été"), ("ДА", "да")] {
            for rule in [Exact, Prefix, Suffix, Contains] {
                check(rule, true, response, reference, true);
                check(rule, false, response, reference, false);
            }
        }
        check(Suffix, true, "le bel ÉTÉ", "été", true);
        check(Contains, true, "le bel ÉTÉ indien", "été", true);
        check(Suffix, true, "é", "été", false);
    }

    #[test]
    fn look_alikes_do_not_match() {
        check(Exact, true, "Pаris", "Paris", false);
    }
}
