//! What the words of a text say about it: joints between answers, whether it is mathematics or wording.

/// Whether a text between two answers only joins them: a comma, "and", "or", delimiters, spaces.
pub(super) fn only_joins(between: &str) -> bool {
    const LONGEST: usize = 60;
    if between.len() > LONGEST || between.contains('\n') && between.trim().is_empty() && between.len() > 8 {
        return false;
    }
    let mut rest = between;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return true };
        let joint = [
            "and",
            "or",
            "\\quad",
            "\\qquad",
            "\\text{and}",
            "\\text{or}",
            "\\text{ and }",
            "\\text{ or }",
            "\\(",
            "\\)",
            "\\[",
            "\\]",
            "\\,",
            "\\;",
            "\\ ",
            "\\&",
        ];
        let word = joint.iter().filter(|j| rest.starts_with(**j)).map(|j| j.len()).max();
        let length = match (first, word) {
            (',' | ';' | '$' | '&' | '*', _) => 1,
            (_, Some(length)) => length,
            _ => return false,
        };
        rest = &rest[length..];
    }
}

/// Words that belong to a formula.
const IN_FORMULAS: [&str; 27] = [
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "lg", "exp", "sqrt", "max", "min", "gcd", "lcm",
    "mod", "abs", "pi", "and", "or", "inf", "km", "cm", "mm", "kg", "mg", "base",
];

/// Whether a text is a formula: outside commands and their texts at most one word of two letters or more that formulas do not
/// have, and that one short.
pub(super) fn is_mathematics(text: &str) -> bool {
    const LONGEST_WORD: usize = 3;
    let mut strange = 0;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_alphabetic()) {
        let command = rest[..at].ends_with('\\');
        let word = &rest[at..];
        let end = word.find(|c: char| !c.is_alphabetic()).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        rest = after;
        if command {
            if word.starts_with("text") || word == "mbox" {
                // A text that is not closed goes on to the end.
                rest = after.find('}').map_or("", |close| &after[close..]);
            }
            continue;
        }
        let letters = word.chars().count();
        if letters > 1 && !IN_FORMULAS.contains(&word) {
            strange += 1;
            if strange > 1 || letters > LONGEST_WORD {
                return false;
            }
        }
    }
    true
}

/// What stands behind the words that lead to an answer: `hence x = 3`, `So it is x + 1`. Absent: the text does not begin so.
pub(super) fn after_lead(text: &str) -> Option<&str> {
    const LEADING: [&str; 28] = [
        "so",
        "thus",
        "hence",
        "then",
        "therefore",
        "it",
        "this",
        "that",
        "which",
        "is",
        "are",
        "was",
        "be",
        "we",
        "you",
        "get",
        "gets",
        "have",
        "has",
        "obtain",
        "find",
        "gives",
        "means",
        "follows",
        "now",
        "finally",
        "its",
        "the",
    ];
    const MOST: usize = 5;
    let mut rest = text;
    for _ in 0..MOST {
        let begin = rest.trim_start();
        let end = begin.find(|c: char| !c.is_alphabetic()).unwrap_or(begin.len());
        let (word, after) = begin.split_at(end);
        let apart = after.starts_with(|c: char| c.is_whitespace() || matches!(c, ',' | ':'));
        if !apart || !LEADING.iter().any(|known| word.eq_ignore_ascii_case(known)) {
            break;
        }
        rest = after.trim_start_matches([',', ':']);
    }
    // A formula that says where it begins is found without this.
    let delimited = ["$", "\\(", "\\["].iter().any(|mark| rest.contains(mark));
    let rest = rest.trim_start();
    (rest.len() < text.len() && !rest.is_empty() && !delimited).then_some(rest)
}

/// Whether a text is a short wording without a number, which may be an answer in words.
pub(super) fn is_wording(text: &str) -> bool {
    const LONGEST: usize = 60;
    let text = text.trim();
    text.len() <= LONGEST && !text.contains(|c: char| c.is_ascii_digit()) && !text.contains('\n')
}
