//! Math-Verify 0.9.0's verdicts, its known errors included: its search for answers, its normalisation, its grammar and its
//! rules of comparison, each modelled as it is.
//!
//! In: both texts and the options. Out: the same [`Verdict`] as the strict rules give. What the peer does by
//! running out of time or by an exception is `Different` here, as it is there.

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

use crate::{Budget, Conclusion, Exhausted, Policy, Side, Verdict};
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
    let mut verdict = Verdict {
        conclusion: Conclusion::Different,
        gold: Side::default(),
        response: Side::default(),
        rule: String::new(),
        why: String::new(),
        steps: 0,
    };
    decide(gold, response, options, &mut budget, &mut verdict);
    verdict.steps = budget.spent();
    verdict
}

fn decide(
    gold: &str,
    response: &str,
    options: &MathVerifyOptions,
    budget: &mut Budget,
    verdict: &mut Verdict,
) {
    let limit = budget.limits().text_bytes;
    let gold_answers = match read(crate::extract::tail(gold, limit), options, budget) {
        Ok((side, answers)) => {
            verdict.gold = side;
            answers
        }
        Err(out) => {
            return conclude(
                verdict,
                Conclusion::Undecided,
                "limit",
                format!("reading the reference: {out}"),
            );
        }
    };
    let pred_answers = match read(crate::extract::tail(response, limit), options, budget) {
        Ok((side, answers)) => {
            verdict.response = side;
            answers
        }
        Err(out) => {
            return conclude(verdict, Conclusion::Different, "limit", format!("reading the response: {out}"));
        }
    };
    if gold_answers.is_empty() {
        let why = "nothing in the reference looks like an answer".to_owned();
        return conclude(verdict, Conclusion::BadReference, "extraction", why);
    }
    if pred_answers.is_empty() {
        let why = "nothing in the response looks like an answer".to_owned();
        return conclude(verdict, Conclusion::NoAnswer, "extraction", why);
    }
    match any_equal(&gold_answers, &pred_answers, options, budget) {
        Ok(Some(rule)) => {
            let why = format!("{} and {} are equal by the rule `{rule}`", gold_answers[0], pred_answers[0]);
            conclude(verdict, Conclusion::Equal, rule, why);
        }
        Ok(None) => {
            let why = format!("no rule finds {} and {} equal", gold_answers[0], pred_answers[0]);
            conclude(verdict, Conclusion::Different, "no-rule", why);
        }
        Err(out) => conclude(verdict, Conclusion::Undecided, "limit", format!("comparing: {out}")),
    }
}

fn conclude(verdict: &mut Verdict, conclusion: Conclusion, rule: &str, why: String) {
    verdict.conclusion = conclusion;
    verdict.rule = format!("math-verify/{rule}");
    verdict.why = why;
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
