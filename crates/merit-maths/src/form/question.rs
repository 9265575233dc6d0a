//! What the words of a task ask for.

use super::Form;

/// What asks for a form. A word ends where its letters end, unless it ends with `-` here: then it may go on.
const WORDS: &[(Form, &[&str])] = &[
    (Form::Simplified, &["simplif-", "simplest", "reduce"]),
    (
        Form::LowestTerms,
        &["lowest terms", "common fraction", "reduced fraction", "irreducible fraction", "simplest"],
    ),
    (Form::Expanded, &["expand-", "multiply out", "multiplied out"]),
    (Form::Factored, &["factor", "factored", "factoring", "factoris-", "factoriz-"]),
    (
        Form::Solved,
        &["solv-", "for which", "for what", "find all", "inequalit-", "solution-", "range of values"],
    ),
    (Form::Decimal, &["as a decimal", "in decimal form", "to a decimal", "decimal number"]),
    (
        Form::Fraction,
        &[
            "as a fraction",
            "to a fraction",
            "common fraction",
            "as a single fraction",
            "as an improper fraction",
        ],
    ),
    (Form::Percent, &["as a percent-", "to a percent-", "in percent-"]),
    (Form::Scientific, &["scientific notation"]),
];

/// The forms that a question asks for.
pub(super) fn forms(question: &str) -> Vec<Form> {
    let question = question.to_lowercase();
    let asked = |words: &[&str]| words.iter().any(|word| says(&question, word));
    WORDS.iter().filter(|(_, words)| asked(words)).map(|(form, _)| *form).collect()
}

/// The base in which a number is asked for.
pub(super) fn base(question: &str) -> Option<u32> {
    let question = question.to_lowercase();
    for (word, base) in [("binary", 2), ("octal", 8), ("hexadecimal", 16)] {
        if ["in", "to", "into"].iter().any(|before| says(&question, &format!("{before} {word}"))) {
            return Some(base);
        }
    }
    let plain: String = question.chars().filter(|c| !matches!(c, '$' | '{' | '}' | '-')).collect();
    let (_, after) =
        ["in base ", "to base ", "into base "].iter().find_map(|words| plain.rsplit_once(words))?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|base| (2..=36).contains(base))
}

fn says(question: &str, word: &str) -> bool {
    let (word, open) = word.strip_suffix('-').map_or((word, false), |word| (word, true));
    question.match_indices(word).any(|(at, _)| {
        let before = question[..at].chars().next_back();
        let after = question[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && (open || !after.is_some_and(char::is_alphanumeric))
    })
}
