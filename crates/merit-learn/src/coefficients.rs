//! The coefficients of a batch where somebody else has the model.
//!
//! In: sequences with what the objective reads of them, and what the current policy says of their tokens. Out: the loss and its
//! derivatives in log-probability, entropy and value. The arithmetic is that of [`Learner::update`](crate::Learner::update); nothing is masked, selected,
//! split or updated here.

use crate::batch::{bundles, units};
use crate::config::require;
use crate::objective::Fault;
use crate::step::Step;
use crate::{Batch, Dropped, Entry, LearnConfig, LearnError, LossAgg, LossParts, Needs, Objective, check};
use merit_api::trainer::{Coefficients, SequenceOutputs};
use merit_core::registry::Chosen;

/// The loss of a batch and its derivatives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BatchLoss {
    pub loss: LossParts,
    /// Number of tokens that are trained.
    pub tokens: usize,
    /// Trained tokens whose gradient a clip cut.
    pub clipped: usize,
    /// The derivatives, one entry per sequence; empty for a sequence that the objective leaves out.
    pub coefficients: Vec<Coefficients>,
}

/// What the objective says of `entries`, of which the current policy says `outputs`, one each. `mismatched` is what
/// [`Unit::mismatched`](crate::Unit::mismatched) gives to an objective that needs it.
pub fn coefficients(
    objective: &Chosen<dyn Objective>,
    loss_agg: &Chosen<dyn LossAgg>,
    entries: &[Entry<'_>],
    outputs: &[SequenceOutputs<'_>],
    mismatched: Option<&[f64]>,
) -> Result<BatchLoss, LearnError> {
    let settings =
        LearnConfig { objective: objective.clone(), loss_agg: loss_agg.clone(), ..LearnConfig::default() };
    settings.validate()?;
    let (name, needs) = (objective.about().name, objective.needs());
    let trained = entries.iter().map(Entry::trained).sum::<usize>();
    require(loss_agg.budget().is_none_or(|most| trained <= most), "loss_agg", || {
        format!("has a budget, and {trained} tokens are more; leave some out of the mask, as a learner does")
    })?;
    if needs.mismatched && mismatched.is_none() {
        return Err(LearnError::NotGiven { objective: name, stream: "mismatched" });
    }
    for (entry, outputs) in entries.iter().zip(outputs) {
        complete(entry, outputs, name, needs)?;
    }
    let units = units(entries, objective)?;
    let all: Vec<usize> = (0..units.len()).collect();
    let bundles = bundles(entries, &units);
    let batch = Batch { entries: entries.to_vec(), units, bundles, dropped: Dropped::default() };
    let mut step = Step::new(&batch, &all, &**objective, &**loss_agg);
    step.mismatched = mismatched.map(<[f64]>::to_vec);
    let judged = step.judge_all(|at| outputs[step.positions()[at]]);
    let judged = judged.map_err(|(at, fault)| match fault {
        Fault::BadToken(token) => {
            LearnError::BadLoss { sample: step.entries()[at].name.clone(), at: token.at, why: token.why }
        }
        Fault::Undeclared(source) => LearnError::Undeclared { objective: name, source },
    })?;
    let mut whole =
        BatchLoss { coefficients: vec![Coefficients::default(); entries.len()], ..BatchLoss::default() };
    for (&at, judged) in step.positions().iter().zip(judged) {
        whole.loss.add_scaled(&judged.stats.loss, 1.0);
        whole.tokens += judged.stats.tokens;
        whole.clipped += judged.stats.clipped;
        whole.coefficients[at] = judged.coefficients;
    }
    Ok(whole)
}

/// A stream of the current policy, which is empty where it was not given.
fn there(stream: &[f32]) -> Option<&[f32]> {
    (!stream.is_empty()).then_some(stream)
}

/// Refuses a sequence that lacks what the objective reads, or has no number for a token that is trained.
fn complete(
    entry: &Entry<'_>,
    outputs: &SequenceOutputs<'_>,
    objective: &'static str,
    needs: Needs,
) -> Result<(), LearnError> {
    let given = |stream: &'static str, needed: bool, values: Option<&[f32]>| match values {
        Some(values) if needed => check::stream(&|| entry.name.clone(), stream, values, &entry.mask),
        None if needed => Err(LearnError::NotGiven { objective, stream }),
        _ => Ok(()),
    };
    given("logprobs", true, Some(outputs.logprobs))?;
    given(
        "old_logprobs",
        needs.old_logprobs && !(needs.guests && entry.old_logprobs.is_none()),
        entry.old_logprobs,
    )?;
    given("advantages", needs.advantages, entry.advantages)?;
    given("reference", needs.reference, entry.reference.as_deref())?;
    given("entropy", needs.entropy, there(outputs.entropy))?;
    given("old_entropy", needs.old_entropy, entry.old_entropy.as_deref())?;
    given("values", needs.values, there(outputs.values))?;
    given("old_values", needs.old_values, entry.old_values)?;
    given("returns", needs.returns, entry.returns)?;
    let rewards = [(needs.reward, entry.reward), (needs.group_reward, entry.group_reward)];
    match rewards.iter().any(|(needed, reward)| *needed && !reward.is_some_and(f64::is_finite)) {
        true => Err(LearnError::NotGiven { objective, stream: "rewards" }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Against, EntropyBand, Gspo, PolicyGradient, TokenMean};

    const ZEROS: [f32; 3] = [0.0; 3];
    const ADVANTAGES: [f32; 3] = [9.0, 2.0, -2.0];

    fn entry(advantages: Option<&[f32]>) -> Entry<'_> {
        Entry {
            name: "row 0".to_owned(),
            whole: 0,
            group: 0,
            tokens: &[],
            mask: vec![false, true, true],
            weight: 1.0,
            fresh: false,
            old_logprobs: Some(&ZEROS),
            advantages,
            old_values: None,
            returns: None,
            reference: None,
            old_entropy: None,
            reward: None,
            group_reward: None,
            own_reward: None,
        }
    }

    fn told(objective: &Chosen<dyn Objective>, advantages: Option<&[f32]>) -> Result<BatchLoss, LearnError> {
        let outputs = SequenceOutputs { index: 0, logprobs: &ZEROS, entropy: &[], values: &[] };
        let loss_agg: Chosen<dyn LossAgg> = Chosen::of(TokenMean {}, |s| s);
        coefficients(objective, &loss_agg, &[entry(advantages)], &[outputs], None)
    }

    #[test]
    fn a_ratio_of_one_leaves_the_advantages_over_the_tokens_that_are_trained() {
        let token: Chosen<dyn Objective> = Chosen::of(PolicyGradient::default(), |s| s);
        let whole = told(&token, Some(&ADVANTAGES)).unwrap();
        assert_eq!((whole.loss.total(), whole.tokens, whole.clipped), (0.0, 2, 0));
        assert_eq!(whole.coefficients[0].logprob, [0.0, -1.0, 1.0]);
        // The mean advantage is 0, so no sequence is pushed.
        let sequence: Chosen<dyn Objective> = Chosen::of(Gspo::default(), |s| s);
        assert!(
            told(&sequence, Some(&ADVANTAGES)).unwrap().coefficients[0].logprob.iter().all(|&d| d == 0.0)
        );
    }

    #[test]
    fn a_band_holds_the_entropy_by_token_or_by_the_mean_of_the_sequence() {
        let band = Some(EntropyBand { coefficient: 0.5, against: Against::Growth });
        let token: Chosen<dyn Objective> = Chosen::of(
            PolicyGradient { entropy: 0.1, entropy_band: band, ..PolicyGradient::default() },
            |s| s,
        );
        let sequence: Chosen<dyn Objective> =
            Chosen::of(Gspo { entropy: 0.1, entropy_band: band, ..Gspo::default() }, |s| s);
        // One token has 2 nats and had 1.5, the other has 1 and had 1.5.
        let outputs = SequenceOutputs { index: 0, logprobs: &ZEROS, entropy: &[9.0, 2.0, 1.0], values: &[] };
        let entry = Entry { old_entropy: Some(vec![0.0, 1.5, 1.5]), ..entry(Some(&ZEROS)) };
        let loss_agg: Chosen<dyn LossAgg> = Chosen::of(TokenMean {}, |s| s);
        for objective in [&token, &sequence] {
            let told =
                coefficients(objective, &loss_agg, std::slice::from_ref(&entry), &[outputs], None).unwrap();
            // The mean of -0.1 * 2 + 0.5 * 0.5 and of -0.1 * 1.
            assert!((told.loss.entropy - (0.05 - 0.1) / 2.0).abs() < 1e-9, "{:?}", told.loss);
            // The first is pushed down by 0.5 - 0.1, the second pulled up by 0.1; each is half of the mean.
            let want = [0.0, 0.2, -0.05];
            let near =
                told.coefficients[0].entropy.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-6);
            assert!(near, "{:?}", told.coefficients[0].entropy);
        }
        let bare = Entry { old_entropy: None, ..entry.clone() };
        let why = coefficients(&token, &loss_agg, &[bare], &[outputs], None).unwrap_err().to_string();
        assert_eq!(why, "objective `policy-gradient` needs `old_entropy`, which was not given");
    }

    #[test]
    fn what_is_missing_is_named() {
        let token: Chosen<dyn Objective> = Chosen::of(PolicyGradient::default(), |s| s);
        let why = told(&token, None).unwrap_err().to_string();
        assert_eq!(why, "objective `policy-gradient` needs `advantages`, which was not given");
    }
}
