//! Math-Verify 0.9.0's verdicts, its known errors included: its search for answers, its normalisation, its grammar and its
//! rules of comparison, each modelled as it is.
//!
//! In: both texts and the options. Out: the same [`Verdict`] as the strict rules give. What the peer does by
//! running out of time or by an exception is `Fail` here, as it is there.

mod find;
mod float;
mod grade;
mod grammar;
mod normalize;
mod options;
mod python;
mod read;
mod values;

pub use options::{
    ExprTarget, ExtractionMode, FallbackMode, LatexTarget, MathVerifyOptions, StringTarget, Target,
};

use crate::{Budget, Comparison, Conclusion, Exhausted, Policy, Side, Verdict};
use grade::{Grader, No};
use read::{Answer, read};

/// Verifies by the peer's rules.
pub(crate) fn verify(gold: &str, response: &str, policy: &Policy) -> Verdict {
    let defaults;
    let options = match &policy.math_verify {
        Some(options) => options,
        None => {
            defaults = MathVerifyOptions::default();
            &defaults
        }
    };
    let mut budget = Budget::new(policy.limits);
    let mut found = Comparison {
        gold: Side::default(),
        response: Side::default(),
        rule: String::new(),
        why: String::new(),
        steps: 0,
    };
    let (conclusion, rule, why) = decide(gold, response, options, &mut budget, &mut found);
    found.steps = budget.spent();
    found.concluded(conclusion, &format!("math-verify/{rule}"), why)
}

/// The conclusion, the rule that decided, and why; what was read on each side goes into `found`.
fn decide(
    gold: &str,
    response: &str,
    options: &MathVerifyOptions,
    budget: &mut Budget,
    found: &mut Comparison,
) -> (Conclusion, &'static str, String) {
    let limit = budget.limits().text_bytes;
    let gold_answers = match read(crate::extract::tail(gold, limit), options, budget) {
        Ok((side, answers)) => {
            found.gold = side;
            answers
        }
        Err(out) => {
            let why = format!("reading the reference: {out}");
            return (Conclusion::grader_failed(why.clone()), "limit", why);
        }
    };
    let pred_answers = match read(crate::extract::tail(response, limit), options, budget) {
        Ok((side, answers)) => {
            found.response = side;
            answers
        }
        Err(out) => return (Conclusion::Fail, "limit", format!("reading the response: {out}")),
    };
    if gold_answers.is_empty() {
        let why = "nothing in the reference looks like an answer";
        return (Conclusion::bad_reference(why), "extraction", why.to_owned());
    }
    if pred_answers.is_empty() {
        let why = "nothing in the response looks like an answer";
        return (Conclusion::unreadable(why), "extraction", why.to_owned());
    }
    match any_equal(&gold_answers, &pred_answers, options, budget) {
        Ok(Some(rule)) => {
            let why = format!("{} and {} are equal by the rule `{rule}`", gold_answers[0], pred_answers[0]);
            (Conclusion::Pass, rule, why)
        }
        Ok(None) => {
            let why = format!("no rule finds {} and {} equal", gold_answers[0], pred_answers[0]);
            (Conclusion::Fail, "no-rule", why)
        }
        Err(out) => {
            let why = format!("comparing: {out}");
            (Conclusion::grader_failed(why.clone()), "limit", why)
        }
    }
}

/// Any answer of the reference against any of the response's: what was parsed, and the text it was parsed from.
fn any_equal(
    gold: &[Answer],
    pred: &[Answer],
    options: &MathVerifyOptions,
    budget: &mut Budget,
) -> Result<Option<&'static str>, Exhausted> {
    let mut out = None;
    for g in gold {
        for p in pred {
            match (g, p) {
                (Answer::Value(g), Answer::Value(p)) => match (Grader { options, budget }).compare(g, p) {
                    Ok(rule) => return Ok(Some(rule)),
                    Err(No::Out(limit)) => out = Some(limit),
                    Err(No::Different | No::Broken) => {}
                },
                (Answer::Text(g), Answer::Text(p)) if !g.trim().is_empty() && g.trim() == p.trim() => {
                    return Ok(Some("same-text"));
                }
                _ => {}
            }
        }
    }
    out.map_or(Ok(None), Err)
}
