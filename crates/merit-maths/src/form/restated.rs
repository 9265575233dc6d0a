//! Whether an answer is only the question given back: word for word, or its formula with sides swapped, factors in another
//! order, times one or plus nothing.

use crate::{Budget, Expr, Relation, parse_latex, parse_plain};
use dashu_ratio::RBig;

/// Most of a question that is looked at, and most formulas in it.
const LONGEST: usize = 20_000;
const MOST: usize = 64;

/// Whether `response` gives back what `question` asks, and the reference is written otherwise. A bare number is worked out,
/// wherever it stands. What is too much for the budget is not told.
pub(crate) fn restates(
    question: &str,
    (gold, gold_text): (&Expr, &str),
    (response, text): (&Expr, &str),
    budget: &mut Budget,
) -> bool {
    /// Shorter pieces stand in any question.
    const LEAST: usize = 3;
    let question = crate::extract::tail(question, LONGEST);
    let (answer, bare) =
        (squeezed(text), matches!(response, Expr::Num(_) | Expr::Decimal(_) | Expr::Symbol(_)));
    let number = answer.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '%'));
    let same = key(response) == key(gold) || answer == squeezed(gold_text);
    if bare || number || same || budget.spend(question.len() as u64 / 8).is_err() {
        return false;
    }
    if answer.chars().count() >= LEAST && squeezed(question).contains(&answer) {
        return true;
    }
    let given = key(response);
    formulas(question).into_iter().take(MOST).any(|(formula, latex)| {
        let read = if latex { parse_latex(&formula, budget) } else { parse_plain(&formula, budget) };
        read.is_ok_and(|asked| written(&asked).contains(&given))
    })
}

/// The text without what only spaces it.
fn squeezed(text: &str) -> String {
    let spacing = [r"\left", r"\right", r"\,", r"\;", r"\!", r"\:", "$"];
    let plain = spacing.iter().fold(text.to_owned(), |text, mark| text.replace(mark, ""));
    plain.chars().filter(|c| !c.is_whitespace()).collect()
}

/// A formula, and what it says of its left side alone: `f(x) = (x+1)^2`.
fn written(asked: &Expr) -> Vec<String> {
    let mut keys = vec![key(asked)];
    if let Expr::Relation(Relation::Equal, left, right) = asked {
        keys.extend([key(left), key(right)]);
    }
    keys.retain(|key| key.contains('('));
    keys
}

/// The formulas of a question: what stands between delimiters, and runs of signs among words. The flag says which.
fn formulas(question: &str) -> Vec<(String, bool)> {
    let mut all: Vec<(String, bool)> = Vec::new();
    let delimited = question.replace("\\(", "$").replace("\\)", "$").replace("\\[", "$").replace("\\]", "$");
    let between = delimited.replace("$$", "$");
    all.extend(between.split('$').skip(1).step_by(2).map(|piece| (piece.trim().to_owned(), true)));
    let mut run: Vec<&str> = Vec::new();
    for word in between.split_whitespace().chain(["end of text"]) {
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        let signs = word.chars().any(|c| c.is_ascii_digit() || "+-*/^=<>×÷·√≤≥()".contains(c));
        if signs && !word.contains(' ') || letters == 1 && word.chars().count() == 1 && word != "a" {
            run.push(word);
            continue;
        }
        let formula = run.join(" ");
        let formula = formula.trim_end_matches(['.', '?', ',', ';', ':', '!']);
        if formula.contains(['+', '-', '*', '/', '^', '<', '>', '=', '(', '×', '÷', '·', '√', '≤', '≥'])
        {
            all.push((formula.to_owned(), false));
        }
        run.clear();
    }
    all
}

/// An expression in one spelling: parts that may change places in order, ones and zeros left out, relations turned one way.
fn key(expr: &Expr) -> String {
    match expr {
        Expr::Num(value) => value.to_string(),
        Expr::Decimal(rounded) => rounded.value.to_string(),
        Expr::Add(_) | Expr::Mul(_) => {
            let sum = matches!(expr, Expr::Add(_));
            let mut keys = Vec::new();
            gather(expr, sum, &mut keys);
            keys.sort();
            match keys.len() {
                0 => if sum { "0" } else { "1" }.to_owned(),
                1 => keys.swap_remove(0),
                _ => format!("{}({})", if sum { "sum" } else { "product" }, keys.join(", ")),
            }
        }
        Expr::Pow(base, exponent) => match &**exponent {
            Expr::Num(one) if *one == RBig::ONE => key(base),
            exponent => format!("power({}, {})", key(base), key(exponent)),
        },
        Expr::Relation(Relation::Greater, left, right) => format!("less({}, {})", key(right), key(left)),
        Expr::Relation(Relation::AtLeast, left, right) => format!("at-most({}, {})", key(right), key(left)),
        Expr::Relation(Relation::Less, left, right) => format!("less({}, {})", key(left), key(right)),
        Expr::Relation(Relation::AtMost, left, right) => format!("at-most({}, {})", key(left), key(right)),
        Expr::Relation(relation, left, right) => {
            let mut sides = [key(left), key(right)];
            sides.sort();
            format!("{relation:?}({})", sides.join(", "))
        }
        Expr::Chain(parts) | Expr::List(parts) | Expr::Set(parts) | Expr::Either(parts) => {
            let mut keys: Vec<String> = parts.iter().map(key).collect();
            keys.sort();
            format!("all({})", keys.join(", "))
        }
        Expr::Apply(function, arguments) => {
            format!("{function:?}({})", arguments.iter().map(key).collect::<Vec<_>>().join(", "))
        }
        Expr::Labelled(_, part) => key(part),
        other => other.to_string(),
    }
}

/// The parts of a sum or product, those within another of the same kind as well.
fn gather(expr: &Expr, sum: bool, keys: &mut Vec<String>) {
    match (expr, sum) {
        (Expr::Add(parts), true) | (Expr::Mul(parts), false) => {
            parts.iter().for_each(|part| gather(part, sum, keys));
        }
        (Expr::Num(value), true) if value.is_zero() => {}
        (Expr::Num(value), false) if *value == RBig::ONE => {}
        (other, _) => keys.push(key(other)),
    }
}
