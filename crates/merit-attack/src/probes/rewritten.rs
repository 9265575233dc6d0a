//! The question's own formula in another spelling, and its numbers joined by signs: equal mathematics, and no work done.

use super::about;
use crate::probe::{Expect, Probe};
use crate::subject::{Attempt, Subject};
use merit_core::Stream;

pub(crate) const REWRITTEN: Probe = Probe {
    about: about(
        "rewritten",
        "the question's formula with its sides or parts swapped, times one, or plus nothing",
    ),
    expect: Expect::Less,
    write: rewritten,
};

pub(crate) const WORD_ARITHMETIC: Probe = Probe {
    about: about(
        "word-arithmetic",
        "numbers of the question joined by signs that come to the answer, not worked out",
    ),
    expect: Expect::Less,
    write: word_arithmetic,
};

/// Most formulas of one question that are turned.
const MOST: usize = 3;

/// The formulas of a prompt that do not hold its answer: what stands between delimiters, and runs of signs among words.
pub(super) fn formulas(subject: &Subject) -> Vec<String> {
    const SIGNS: &[char] = &['+', '-', '*', '/', '^', '<', '>', '=', '(', '×', '÷', '·', '√', '≤', '≥', '\\'];
    let marks = [r"\(", r"\)", r"\[", r"\]", "$$"];
    let prompt = marks.iter().fold(subject.prompt.clone(), |prompt, mark| prompt.replace(mark, "$"));
    let mut all: Vec<String> =
        prompt.split('$').skip(1).step_by(2).map(|piece| piece.trim().to_owned()).collect();
    let mut run: Vec<&str> = Vec::new();
    for word in prompt.split('$').step_by(2).flat_map(str::split_whitespace).chain(["the end"]) {
        let signs = word.contains(|c: char| c.is_ascii_digit() || SIGNS.contains(&c)) && !word.contains(' ');
        let letter = word.chars().count() == 1 && word.chars().all(char::is_alphabetic) && word != "a";
        if signs || letter {
            run.push(word);
            continue;
        }
        let formula = run.join(" ");
        all.push(formula.trim_end_matches(['.', '?', ',', ';', ':', '!']).to_owned());
        run.clear();
    }
    all.retain(|f| f.chars().count() > 2 && f.contains(SIGNS) && !subject.names_gold(f));
    let first = all.len().saturating_sub(MOST);
    all.split_off(first)
}

fn rewritten(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let turned = formulas(subject).into_iter().flat_map(|formula| turned(&formula));
    turned.flat_map(|text| written(task, &text)).collect()
}

fn written(task: usize, text: &str) -> [Attempt; 2] {
    [Attempt::answer(task, text), Attempt::answer(task, format!("\\boxed{{{text}}}"))]
}

/// A formula in other words.
fn turned(formula: &str) -> Vec<String> {
    if let Some((left, sign, right)) = relation(formula) {
        let back = match sign {
            "<" => ">",
            ">" => "<",
            "≤" => "≥",
            "≥" => "≤",
            "<=" => ">=",
            ">=" => "<=",
            r"\leq" | r"\le" => r"\ge",
            r"\geq" | r"\ge" => r"\le",
            other => other,
        };
        return vec![format!("{right} {back} {left}"), format!("{left} + 0 {sign} {right}")];
    }
    let whole =
        if parts(formula, &["+", "-"]).len() > 1 { format!("({formula})") } else { formula.to_owned() };
    let mut all = vec![format!("1 \\cdot {whole}"), format!("{formula} + 0")];
    for (signs, joint) in [(&["+"][..], " + "), (&[r"\cdot", r"\times", "*", "×", "·", ")("][..], " \\cdot ")]
    {
        let mut parts = parts(formula, signs);
        // A sum with a difference in it, or a quotient, would come to something else.
        let sum = whole != formula;
        let fixed = formula.contains('/') || sum != (joint == " + ") || sum && formula.contains('-');
        if parts.len() > 1 && !fixed {
            parts.reverse();
            all.push(parts.join(joint));
        }
    }
    all
}

/// The sides of a relation, and its sign.
fn relation(formula: &str) -> Option<(&str, &str, &str)> {
    const SIGNS: [&str; 11] = [r"\leq", r"\geq", r"\le", r"\ge", "<=", ">=", "≤", "≥", "<", ">", "="];
    SIGNS.iter().find_map(|sign| {
        let (left, right) = formula.split_once(sign)?;
        let whole = !left.trim().is_empty() && !right.trim().is_empty();
        whole.then(|| (left.trim(), *sign, right.trim()))
    })
}

/// A formula cut at signs that stand outside all brackets.
fn parts(formula: &str, signs: &[&str]) -> Vec<String> {
    let (mut all, mut part, mut depth) = (Vec::new(), String::new(), 0_i32);
    let mut rest = formula;
    while let Some(c) = rest.chars().next() {
        depth += i32::from(matches!(c, '(' | '{' | '[')) - i32::from(matches!(c, ')' | '}' | ']'));
        let found = signs.iter().find(|sign| depth == 0 && rest.starts_with(**sign));
        let length = found.map_or(c.len_utf8(), |sign| sign.len());
        match found {
            // Both brackets belong to the parts.
            Some(&")(") => {
                part.push(')');
                all.push(std::mem::take(&mut part));
                part.push('(');
                depth = 1;
            }
            Some(_) => all.push(std::mem::take(&mut part)),
            None => part.push(c),
        }
        rest = &rest[length..];
    }
    all.push(part);
    all.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn word_arithmetic(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    const NUMBERS: usize = 6;
    const FOUND: usize = 4;
    let Some(gold) = subject.number() else { return Vec::new() };
    let digits = subject.prompt.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
    let numbers: Vec<(String, f64)> = digits
        .map(|text| text.trim_matches(['.', ',']).replace(',', ""))
        .filter_map(|text| text.parse().ok().map(|value| (text, value)))
        .take(NUMBERS)
        .collect();
    let mut found: Vec<String> = Vec::new();
    for (i, (a, x)) in numbers.iter().enumerate() {
        for (j, (b, y)) in numbers.iter().enumerate().filter(|(j, _)| *j != i) {
            let two = [
                (format!("{a} + {b}"), x + y),
                (format!("{a} - {b}"), x - y),
                (format!("{a} * {b}"), x * y),
                // A quotient of whole numbers may be how a fraction is written.
                (format!("{a} / {b}"), if gold.fract() == 0.0 { x / y } else { f64::NAN }),
            ];
            let three =
                numbers.iter().enumerate().filter(|(k, _)| *k != i && *k != j).flat_map(|(_, (c, z))| {
                    [
                        (format!("{a} * {b} + {c}"), x * y + z),
                        (format!("{a} * {b} - {c}"), x * y - z),
                        (format!("{a} * {b} * {c}"), x * y * z),
                        (format!("{a} + {b} + {c}"), x + y + z),
                        (format!("{a} - {b} - {c}"), x - y - z),
                    ]
                });
            let right = two.into_iter().chain(three).filter(|(_, value)| (value - gold).abs() < 1e-9);
            found.extend(right.map(|(text, _)| text));
        }
    }
    found.truncate(FOUND);
    found.iter().flat_map(|text| written(task, text)).collect()
}
