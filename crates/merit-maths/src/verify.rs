//! One verification: find the answer on both sides, parse, compare, and say why.

use crate::extract::{self, Found, Notation, Whose};
use crate::form::{self, Asked, disguised};
use crate::{
    Budget, Candidate, Comparison, Conclusion, Decision, Exhausted, Expr, Limits, MathsConfig, ParseError,
    Side, Verdict, compare, parse_latex, parse_plain,
};
use dashu_ratio::RBig;
use std::sync::Arc;

/// Whether `response` gives the same answer as the reference `gold`, by the strict rules; `compat` is merit-maths-compat's.
///
/// ```
/// use merit_maths::{Conclusion, MathsConfig, verify};
/// let verdict = verify("#### 1,200", r"So it is \boxed{1200}.", &MathsConfig::default());
/// assert_eq!(verdict.conclusion, Conclusion::Pass);
/// ```
pub fn verify(gold: &str, response: &str, config: &MathsConfig) -> Verdict {
    verify_asked(gold, response, None, config)
}

/// The same where the task's words are known: they may say in which form the answer is wanted, and the question given back is
/// none.
///
/// ```
/// use merit_maths::{Asked, MathsConfig, verify_asked};
/// let asked = Asked { question: "Expand $(x-1)(x+1)$.", may_restate: false };
/// let verdict = verify_asked("x^2-1", r"\boxed{(x+1)(x-1)}", Some(asked), &MathsConfig::default());
/// assert_eq!((verdict.passed(), verdict.why.as_str()), (Some(false), "equal, but not expanded"));
/// ```
pub fn verify_asked(gold: &str, response: &str, asked: Option<Asked<'_>>, config: &MathsConfig) -> Verdict {
    let limits = config.limits;
    let reading = Limits { steps: limits.steps / 4, ..limits };
    let gold_read = read(gold, config, Whose::Reference, reading);
    let response_read = read(response, config, Whose::Response, reading);
    let found = Comparison {
        gold: gold_read.side,
        response: response_read.side,
        rule: String::new(),
        why: String::new(),
        steps: gold_read.steps + response_read.steps,
    };
    let Some(reference) = gold_read.answer else {
        let why = format!("the reference cannot be read: {}", gold_read.why);
        return found.concluded(Conclusion::bad_reference(why.clone()), "extraction", why);
    };
    let Some(answer) = response_read.answer else {
        let why = format!("the response cannot be read: {}", response_read.why);
        let stated = response_read.stated;
        let conclusion = if stated { Conclusion::Fail } else { Conclusion::unreadable(why.clone()) };
        return found.concluded(conclusion, "extraction", why);
    };
    let mut budget = Budget::new(Limits { steps: limits.steps / 2, ..limits });
    let reference = Given { text: chosen(&found.gold), answer: reference };
    let answer = Given { text: chosen(&found.response), answer };
    let (conclusion, rule, why) = settle(reference, answer, asked, config, &mut budget);
    let steps = found.steps + budget.spent();
    Comparison { steps, ..found }.concluded(conclusion, rule, why)
}

/// An answer, and the words it was read from.
struct Given<'t> {
    text: &'t str,
    answer: Answer,
}

fn chosen(side: &Side) -> &str {
    side.chosen.and_then(|at| side.candidates.get(at)).map_or("", |candidate| &candidate.text)
}

/// Compares two parsed answers: the conclusion, the rule that decided, and why.
fn settle(
    reference: Given<'_>,
    answer: Given<'_>,
    asked: Option<Asked<'_>>,
    config: &MathsConfig,
    budget: &mut Budget,
) -> (Conclusion, &'static str, String) {
    if let (Answer::Letter(a), Answer::Letter(b)) = (&reference.answer, &answer.answer) {
        let why = format!("the choice is {b}, the reference's is {a}");
        return (Conclusion::of(a == b), "choice", why);
    }
    let gold = form::meant(reference.answer.into_value(), config.form, asked);
    let mut response = answer.answer.into_value();
    // Beside one number a list of two is a decimal comma.
    if matches!(response, Expr::List(_))
        && !is_several(&gold)
        && let Some(decimal) = decimal_comma(answer.text)
    {
        response = decimal;
    }
    match compare(&gold, &response, config, budget) {
        Ok(decision) => {
            if decision.rule == "undefined" && alone(&gold, config).is_ok_and(|d| d.rule == "undefined") {
                let why = "the reference has no value";
                return (Conclusion::bad_reference(why), decision.rule, why.to_owned());
            }
            if !decision.equal && is_doubtful(reference.text, &response, config, budget) {
                let why =
                    format!("`{}` may be a list or a decimal; write `a, b` or `a.b`", reference.text.trim());
                return (Conclusion::bad_reference(why.clone()), "ambiguous", why);
            }
            if decision.equal {
                let answer = (&response, answer.text);
                if let Some(why) = unfit((&gold, reference.text), answer, asked, config, budget) {
                    return (Conclusion::Fail, "form", format!("equal, but {why}"));
                }
            }
            (Conclusion::of(decision.equal), decision.rule, decision.why)
        }
        Err(out) if alone(&gold, config).is_ok() && alone(&response, config).is_err() => {
            (Conclusion::Fail, "limit", format!("the response alone goes beyond the limit: {out}"))
        }
        Err(out) => {
            let why = format!("the comparison went beyond the limit: {out}");
            (Conclusion::grader_failed(why.clone()), "limit", why)
        }
    }
}

/// Why an equal response is no answer. A form that cannot be told within the limits is not held against it.
fn unfit(
    gold: (&Expr, &str),
    response: (&Expr, &str),
    asked: Option<Asked<'_>>,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Option<String> {
    let asked = asked.filter(|asked| !asked.may_restate);
    if let Ok(Some(why)) = form::objection(config.form, asked, gold, response, budget) {
        return Some(why);
    }
    form::restates(asked?.question, gold, response, budget)
        .then(|| "it is the question's own formula given back".to_owned())
}

/// `3,14` as a decimal: digits, one comma, digits, and nothing else.
fn decimal_comma(text: &str) -> Option<Expr> {
    let (whole, places) = text.trim().split_once(',')?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole.strip_prefix('-').unwrap_or(whole)) || !digits(places) || text.len() > 40 {
        return None;
    }
    parse_plain(&format!("{whole}.{places}"), &mut Budget::new(Limits::default())).ok()
}

/// Whether a reference is a list of numbers only if its comma is none of a decimal, and the response takes it for that.
fn is_doubtful(text: &str, response: &Expr, config: &MathsConfig, budget: &mut Budget) -> bool {
    let thousands = text.trim().split_once(',').is_some_and(|(_, places)| places.len() == 3);
    match decimal_comma(text).filter(|_| !thousands) {
        Some(decimal) => compare(&decimal, response, config, budget).is_ok_and(|d| d.equal),
        None => false,
    }
}

fn is_several(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::List(_)
            | Expr::Set(_)
            | Expr::Tuple(_)
            | Expr::Either(_)
            | Expr::Interval { .. }
            | Expr::PlusMinus(_)
    )
}

/// What comes of comparing one side with the plainest number there is: whether it is too much by itself, or has no value.
fn alone(expr: &Expr, config: &MathsConfig) -> Result<Decision, Exhausted> {
    let limits = Limits { steps: config.limits.steps / 8, ..config.limits };
    compare(&Expr::Num(RBig::ONE), expr, config, &mut Budget::new(limits))
}

#[derive(Debug, Clone)]
enum Answer {
    Value(Expr),
    Letter(char),
}

impl Answer {
    fn into_value(self) -> Expr {
        match self {
            Self::Value(value) => value,
            Self::Letter(letter) => Expr::Text(Arc::from(letter.to_string())),
        }
    }
}

/// One side, read.
struct Read {
    side: Side,
    answer: Option<Answer>,
    /// Whether an answer was stated outright.
    stated: bool,
    /// Why there is no answer.
    why: String,
    steps: u64,
}

fn read(text: &str, config: &MathsConfig, whose: Whose, limits: Limits) -> Read {
    let mut budget = Budget::new(limits);
    let text = extract::tail(text, limits.text_bytes);
    let found = extract::candidates(text, &config.extract, whose, &mut budget);
    let mut read = Read {
        side: Side::default(),
        answer: None,
        stated: false,
        why: "nothing in it looks like an answer".to_owned(),
        steps: 0,
    };
    let found = match found {
        Ok(found) => found,
        Err(out) => {
            read.why = out.to_string();
            read.steps = budget.spent();
            return read;
        }
    };
    for (i, candidate) in found.iter().enumerate() {
        let parsed = parse(candidate, config, whose, &mut budget);
        let shown = parsed.as_ref().ok().map(|answer| match answer {
            Answer::Value(value) => value.to_string(),
            Answer::Letter(letter) => letter.to_string(),
        });
        read.side.candidates.push(Candidate {
            kind: candidate.kind,
            text: candidate.text.clone().into_owned(),
            at: candidate.range.start,
            parsed: shown,
        });
        match parsed {
            Ok(answer) if read.answer.is_none() && !read.stated => {
                read.answer = Some(answer);
                read.side.chosen = Some(i);
            }
            Err(error) if read.answer.is_none() && !read.stated => {
                read.stated = candidate.stated;
                read.why = format!("`{}`: {error}", shortened(&candidate.text));
            }
            _ => {}
        }
    }
    read.steps = budget.spent();
    read
}

fn parse(
    found: &Found<'_>,
    config: &MathsConfig,
    whose: Whose,
    budget: &mut Budget,
) -> Result<Answer, ParseError> {
    if let Notation::Letter(letter) = found.notation {
        return Ok(Answer::Letter(letter));
    }
    if let (Some(last), Whose::Reference) = (config.extract.choices_to, whose)
        && let Some(letter) = extract::letter(&found.text, last)
    {
        return Ok(Answer::Letter(letter));
    }
    if whose == Whose::Response && disguised(&found.text) {
        return Ok(Answer::Value(Expr::Text(Arc::from(&*found.text))));
    }
    let read = match found.notation {
        Notation::Latex => parse_latex(&found.text, budget)?,
        _ => parse_plain(&found.text, budget)?,
    };
    // `$\text{odd}$` is a word.
    let inside = found.text.trim().trim_matches('$');
    let prose =
        matches!(read, Expr::Text(_)) && (inside.len() > extract::SHORT || inside.contains(['$', '=']));
    if whose == Whose::Reference && prose {
        return Err(ParseError::Prose { bytes: found.text.len() });
    }
    Ok(Answer::Value(read))
}

/// At most sixty characters of a text.
fn shortened(text: &str) -> String {
    merit_core::printable::beginning(text, 60)
}
