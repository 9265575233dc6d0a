//! Mathematics by either set of rules: the strict ones of merit-maths, or those of Math-Verify 0.9.0, its known errors included.
//!
//! In: both texts and the settings. Out: the same [`Verdict`] from both. The peer's search for answers, its normalisation, its
//! grammar and its rules of comparison are each modelled as they are; what it does by running out of time or by an exception is
//! `Fail` here, as it is there. For numbers that are to be compared with numbers others published.

mod find;
mod float;
mod grade;
mod grammar;
mod normalize;
mod python;
mod read;
mod record;
mod values;

pub use merit_maths::MathsConfig;
pub use record::{MathsRecord, MathsVerifier};

use grade::{Grader, No};
use merit_maths::{
    Asked, Budget, Comparison, Compat, Conclusion, Exhausted, MathVerifyOptions, Side, Verdict,
};
use read::{Answer, read};

/// Whether `response` gives the same answer as the reference `gold`, by the rules that `compat` names.
///
/// ```
/// use merit_maths::{Compat, MathsConfig};
/// let peer = MathsConfig { compat: Compat::MathVerify, ..MathsConfig::default() };
/// assert_eq!(merit_maths_compat::verify("$1/2$", r"\boxed{0.5}", &peer).passed(), Some(true));
/// ```
pub fn verify(gold: &str, response: &str, config: &MathsConfig) -> Verdict {
    verify_asked(gold, response, None, config)
}

/// The same where the task's words are known. The peer's rules know no form, and make nothing of them.
pub fn verify_asked(gold: &str, response: &str, asked: Option<Asked<'_>>, config: &MathsConfig) -> Verdict {
    match config.compat {
        Compat::None => merit_maths::verify_asked(gold, response, asked, config),
        Compat::MathVerify => by_math_verify(gold, response, config),
    }
}

fn by_math_verify(gold: &str, response: &str, config: &MathsConfig) -> Verdict {
    let defaults;
    let options = match &config.math_verify {
        Some(options) => options,
        None => {
            defaults = MathVerifyOptions::default();
            &defaults
        }
    };
    let mut budget = Budget::new(config.limits);
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
    let gold_answers = match read(merit_maths::tail(gold, limit), options, budget) {
        Ok((side, answers)) => {
            found.gold = side;
            answers
        }
        Err(out) => {
            let why = format!("reading the reference: {out}");
            return (Conclusion::grader_failed(why.clone()), "limit", why);
        }
    };
    let pred_answers = match read(merit_maths::tail(response, limit), options, budget) {
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
