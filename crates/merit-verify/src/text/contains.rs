//! A reference among the words of a response, and the ways of winning by guessing that must not win: lists of answers,
//! answers joined by "or", every option of a closed set, a needle in a long text, a denial.

use super::words::{is_negation, is_stop_word, words};
use super::{ContainsConfig, Normalise, Refusal, TextEvidence};

/// What was found of one reference.
pub(crate) struct Found {
    pub(crate) evidence: TextEvidence,
    /// Absent: nothing speaks against the match, or there is none.
    pub(crate) refusal: Option<Refusal>,
    pub(crate) matched: bool,
}

/// A response as `contains` looks at it.
pub(crate) struct Response<'a> {
    pub(crate) raw: &'a str,
    pub(crate) words: Vec<&'a str>,
}

/// Looks for one reference.
pub(crate) fn look(
    config: &ContainsConfig,
    response: &Response<'_>,
    raw_reference: &str,
    reference: &str,
) -> Found {
    let wanted: Vec<&str> = words(reference).collect();
    let at: Vec<usize> = occurrences(&response.words, &wanted);
    let candidates = match at.is_empty() {
        true => Candidates::default(),
        false => Candidates::count(response.raw, raw_reference, wanted.len()),
    };
    let evidence = TextEvidence::Contains {
        at_word: at.first().copied(),
        response_words: response.words.len(),
        reference_words: wanted.len(),
        candidates: candidates.items,
    };
    let refusal = if at.is_empty() { None } else { refusal(config, response, &wanted, &at, &candidates) };
    Found { evidence, refusal, matched: !at.is_empty() }
}

fn refusal(
    config: &ContainsConfig,
    response: &Response<'_>,
    wanted: &[&str],
    at: &[usize],
    candidates: &Candidates,
) -> Option<Refusal> {
    let hedged = config.refuse_alternatives && candidates.alternatives;
    if candidates.items > config.max_candidates || hedged {
        return Some(Refusal::SeveralAnswers);
    }
    if (wanted.len() as f64) < config.min_share * response.words.len() as f64 {
        return Some(Refusal::SmallShare);
    }
    let denied = |at: &usize| {
        let before = response.words.get(at.saturating_sub(2)..*at).unwrap_or_default();
        before.iter().any(|word| is_negation(word))
    };
    (config.refuse_negated && at.iter().all(denied)).then_some(Refusal::Negated)
}

/// Whether the response holds an option that is none of the normalised references.
pub(crate) fn holds_other_option(
    config: &ContainsConfig,
    normalise: &Normalise,
    response: &Response<'_>,
    references: &[String],
) -> bool {
    config.options.iter().map(|option| normalise.apply(option)).any(|option| {
        let wanted: Vec<&str> = words(&option).collect();
        !wanted.is_empty()
            && !references.contains(&option)
            && !occurrences(&response.words, &wanted).is_empty()
    })
}

/// At which words of `text` the words `wanted` start.
fn occurrences(text: &[&str], wanted: &[&str]) -> Vec<usize> {
    if wanted.is_empty() || wanted.len() > text.len() {
        return Vec::new();
    }
    // One linear search over the joined words; blanks at both ends make every match one of whole words.
    let joined = |words: &[&str]| format!(" {} ", words.join(" "));
    let (hay, needle) = (joined(text), joined(wanted));
    let (mut from, mut word) = (0, 0);
    let place = |(at, _): (usize, &str)| {
        word += hay.get(from..at).map_or(0, |skipped| skipped.matches(' ').count());
        from = at;
        word
    };
    hay.match_indices(&needle).map(place).collect()
}

/// What a response offers beside the match.
#[derive(Debug, Default, PartialEq)]
struct Candidates {
    items: usize,
    alternatives: bool,
}

/// What stands between two pieces of a response.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Joint {
    List,
    Alternative,
}

impl Candidates {
    fn count(response: &str, reference: &str, reference_words: usize) -> Self {
        let pieces = pieces(response, reference);
        let short = 2 * reference_words + 1;
        let is_short = |piece: &str| (1..=short).contains(&word_count(piece));
        let items: usize = pieces.iter().map(|(piece, _)| guesses(piece, short, reference_words)).sum();
        let alternatives = pieces.windows(2).any(|pair| match pair {
            [(left, Some(Joint::Alternative)), (right, _)] => is_short(left) || is_short(right),
            _ => false,
        });
        // The match may stand in a sentence of its own, which is no list item but still one candidate.
        let wanted = Normalise::default().apply(reference);
        let holds = |piece: &str| Normalise::default().apply(piece).contains(&wanted);
        let in_sentence = !pieces.iter().any(|(piece, _)| is_short(piece) && holds(piece));
        Self { items: items + usize::from(in_sentence && pieces.len() > 1), alternatives }.at_least_one()
    }

    fn at_least_one(self) -> Self {
        Self { items: self.items.max(1), ..self }
    }
}

/// How many candidates a piece is: one when short, none when it reads as a sentence, and one per reference's length when
/// it is a bare list of words.
fn guesses(piece: &str, short: usize, reference_words: usize) -> usize {
    let count = word_count(piece);
    if count == 0 {
        return 0;
    }
    if count <= short.max(reference_words + 3) {
        return usize::from(count <= short);
    }
    let links = words(piece).filter(|word| is_stop_word(&word.to_lowercase())).count();
    if links * 5 >= count { 0 } else { count / reference_words.max(1) }
}

fn word_count(piece: &str) -> usize {
    words(piece).filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// The pieces of a response with what joins each to the next. A separator that the reference itself has is none.
fn pieces<'a>(response: &'a str, reference: &str) -> Vec<(&'a str, Option<Joint>)> {
    let reference_has_word = |joint: &str| words(reference).any(|word| word.eq_ignore_ascii_case(joint));
    let (has_or, has_and) = (reference_has_word("or"), reference_has_word("and"));
    let mut found = Vec::new();
    let mut start = 0;
    let mut cut = |from: &mut usize, to: usize, next: usize, joint: Joint| {
        found.push((response.get(*from..to).unwrap_or_default(), Some(joint)));
        *from = next;
    };
    let mut word_start = 0;
    for (at, c) in response.char_indices().chain([(response.len(), ' ')]) {
        let next = at + c.len_utf8();
        let joint = separator(response, at, c).filter(|_| !reference.contains(c));
        if joint.is_none() && !c.is_whitespace() {
            continue;
        }
        match response.get(word_start..at).unwrap_or_default() {
            word if word.eq_ignore_ascii_case("or") && !has_or => {
                cut(&mut start, word_start, at, Joint::Alternative);
            }
            word if word.eq_ignore_ascii_case("and") && !has_and => {
                cut(&mut start, word_start, at, Joint::List)
            }
            _ => {}
        }
        word_start = next;
        if let Some(joint) = joint {
            cut(&mut start, at, next, joint);
        }
    }
    found.push((response.get(start..).unwrap_or_default(), None));
    found.retain(|(piece, _)| word_count(piece) > 0);
    found
}

fn separator(response: &str, at: usize, c: char) -> Option<Joint> {
    let digit = |c: char| c.is_ascii_digit();
    let in_number = || {
        response.get(..at).is_some_and(|head| head.ends_with(digit))
            && response.get(at + c.len_utf8()..).is_some_and(|tail| tail.starts_with(digit))
    };
    match c {
        ',' | '/' if in_number() => None,
        ',' | ';' | '\n' | '•' | '、' | '，' => Some(Joint::List),
        '/' | '|' => Some(Joint::Alternative),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(response: &str, reference: &str, items: usize, alternatives: bool) {
        let got = Candidates::count(response, reference, words(reference).count());
        assert_eq!(got, Candidates { items, alternatives }, "{response:?}");
    }

    #[test]
    fn list_items_are_candidates_and_sentences_are_not() {
        check("Paris", "Paris", 1, false);
        check("The capital of France is Paris", "Paris", 1, false);
        check("Paris, France", "Paris", 2, false);
        check("Yes, it does", "yes", 2, false);
        check("Paris, London, Berlin", "Paris", 3, false);
        check("It is 1,000 metres", "1,000", 1, false);
        check("Paris\nLondon\nRome\nOslo", "Paris", 4, false);
    }

    #[test]
    fn alternatives_are_told_from_lists() {
        check("Paris or London", "Paris", 2, true);
        check("Paris/London", "Paris", 2, true);
        check("and/or", "and/or", 1, false);
        check("1/2", "1/2", 1, false);
    }

    #[test]
    fn a_bare_list_of_words_is_many_candidates() {
        check("Paris London Berlin Rome Madrid Oslo", "Paris", 6, false);
    }
}
