//! One verification: find the answer on both sides, parse, compare, and say why.

use crate::extract::{self, Found, Notation, Whose};
use crate::worked_out::{disguised, worked_out};
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
    let (conclusion, rule, why) = settle(&reference, &answer, config, &mut budget);
    let steps = found.steps + budget.spent();
    Comparison { steps, ..found }.concluded(conclusion, rule, why)
}

/// Compares two parsed answers: the conclusion, the rule that decided, and why.
fn settle(
    reference: &Answer,
    answer: &Answer,
    config: &MathsConfig,
    budget: &mut Budget,
) -> (Conclusion, &'static str, String) {
    let (gold, response) = match (reference, answer) {
        (Answer::Letter(a), Answer::Letter(b)) => {
            let why = format!("the choice is {b}, the reference's is {a}");
            return (Conclusion::of(a == b), "choice", why);
        }
        (Answer::Value(a), Answer::Value(b)) => (a.clone(), b.clone()),
        (a, b) => (a.as_value(), b.as_value()),
    };
    match compare(&gold, &response, config, budget) {
        Ok(decision) => {
            if decision.rule == "undefined" && alone(&gold, config).is_ok_and(|d| d.rule == "undefined") {
                let why = "the reference has no value";
                return (Conclusion::bad_reference(why), decision.rule, why.to_owned());
            }
            if config.worked_out && decision.equal && worked_out(&gold) && !worked_out(&response) {
                let why = "it would come to the reference, but is left to be worked out".to_owned();
                return (Conclusion::Fail, "not-worked-out", why);
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

/// What comes of comparing one side with the plainest number there is: whether it is too much by itself, or has no value.
fn alone(expr: &Expr, config: &MathsConfig) -> Result<Decision, Exhausted> {
    let limits = Limits { steps: config.limits.steps / 8, ..config.limits };
    compare(&Expr::Num(RBig::ONE), expr, config, &mut Budget::new(limits))
}

/// A parsed answer.
#[derive(Debug, Clone)]
enum Answer {
    Value(Expr),
    Letter(char),
}

impl Answer {
    fn as_value(&self) -> Expr {
        match self {
            Self::Value(value) => value.clone(),
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
    let looked = budget.spend(1 + text.len() as u64 / 64);
    let found = extract::candidates(text, &config.extract, whose);
    let mut read = Read {
        side: Side { candidates: Vec::with_capacity(found.len()), chosen: None },
        answer: None,
        stated: false,
        why: "nothing in it looks like an answer".to_owned(),
        steps: 0,
    };
    if let Err(out) = looked {
        read.why = out.to_string();
        return read;
    }
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
    match found.notation {
        Notation::Latex => parse_latex(&found.text, budget),
        _ => parse_plain(&found.text, budget),
    }
    .map(Answer::Value)
}

/// At most sixty characters of a text.
fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
