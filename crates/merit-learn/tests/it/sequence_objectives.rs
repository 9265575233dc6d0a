//! GSPO, DPO and KTO against the formulas of their papers, worked out in double precision, and an objective of the caller's own
//! over whole groups.

use crate::support::scripted::{Says, Scripted};
use crate::support::{Fate, sample};
use merit_api::trainer::{SequenceScores, TrainSequence};
use merit_core::registry::{About, Chosen, Component, Components};
use merit_core::{PolicyVersion, Sample, Seed, TokenId, entry};
use merit_learn::*;
use serde::{Deserialize, Serialize};

fn at() -> UpdateContext {
    UpdateContext { step: 0, version: PolicyVersion(3), temperature: 1.0, seed: Seed::root(1) }
}

/// What a small table says of token t: any numbers do, as long as they depend on the token and on the one before.
fn table(sequence: &TrainSequence<'_>, shift: f32) -> Vec<f32> {
    let number = |t: usize| {
        let (before, now) = (sequence.tokens[t - 1].0 as f32, sequence.tokens[t].0 as f32);
        -0.3 - 0.11 * now - 0.07 * before - shift * (now * 1.7 + before).sin().abs()
    };
    (0..sequence.tokens.len()).map(|t| if sequence.needed[t] { number(t) } else { 0.0 }).collect()
}

fn policy(sequence: &TrainSequence<'_>) -> Vec<f32> {
    table(sequence, 0.2)
}

fn reference(sequence: &TrainSequence<'_>) -> Vec<f32> {
    table(sequence, 0.5)
}

fn trainer<'s>() -> Scripted<'s> {
    Scripted::new(|_, sequence| SequenceScores { logprobs: policy(sequence), ..SequenceScores::default() })
}

fn sequence(sample: &Sample) -> TrainSequence<'_> {
    TrainSequence { tokens: &sample.tokens, needed: &sample.mask }
}

/// Three groups with prompts of their own: a clear order, a tie at both ends, and equal rewards.
fn batch() -> Vec<Sample> {
    let turns: [&[f32]; 3] = [&[-0.5, -1.0, -2.0], &[-0.7], &[-0.9, -0.4]];
    let rewards = [[0.5, 1.0, 0.25], [1.0, 0.0, 0.0], [0.5, 0.5, 0.5]];
    let mut samples = Vec::new();
    for (group, rewards) in rewards.iter().enumerate() {
        for (member, reward) in rewards.iter().enumerate() {
            let advantage = *reward as f32 - 0.5;
            let fate = Fate::Reward(*reward);
            let mut one =
                sample(group as u32, member as u32, &[turns[(group + member) % 3]], fate, advantage);
            one.tokens[0] = TokenId(20 + group as u32);
            one.tokens.iter_mut().skip(2).for_each(|token| token.0 += member as u32 + 3 * group as u32);
            samples.push(one);
        }
    }
    samples[0].weight = 0.5;
    samples
}

fn learner(objective: Chosen<dyn Objective>) -> Learner {
    Learner::new(LearnConfig { objective, ..LearnConfig::default() }, 1).unwrap()
}

fn update<'s>(objective: Chosen<dyn Objective>, samples: &[Sample]) -> (Scripted<'s>, UpdateReport) {
    let mut trainer = trainer();
    let says = Says(|_, sequence: &TrainSequence<'_>| reference(sequence));
    let report = learner(objective).update(&mut trainer, samples, Some(&says), &at()).unwrap();
    (trainer, report)
}

fn sum(stream: impl Iterator<Item = f32>) -> f64 {
    stream.map(f64::from).sum()
}

/// `log(policy / reference)` of a whole sequence.
fn log_ratio(sequence: &TrainSequence<'_>) -> f64 {
    sum(policy(sequence).into_iter()) - sum(reference(sequence).into_iter())
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn near(got: f64, want: f64) {
    assert!((got - want).abs() < 1e-6 * want.abs().max(1.0), "{got}, not {want}");
}

/// Every trained token of the sequence at `at` has the derivative `want`, and no other token has any.
fn check_slope(trainer: &Scripted<'_>, at: usize, mask: &[bool], want: f64) {
    for (t, &got) in trainer.coefficients[at].logprob.iter().enumerate() {
        near(f64::from(got), if mask[t] { want } else { 0.0 });
    }
}

#[test]
fn gspo_is_the_clipped_surrogate_of_whole_sequences() {
    let samples = batch();
    let (low, high) = (0.4, 0.5);
    let (trainer, report) =
        update(Chosen::of(Gspo { clip_low: low, clip_high: high, ..Gspo::default() }, |s| s), &samples);
    let weights: f64 = samples.iter().map(|s| f64::from(s.weight)).sum();
    let (mut loss, mut clipped) = (0.0, 0);
    for (at, sample) in samples.iter().enumerate() {
        let n = sample.trainable() as f64;
        let gained = sum(policy(&sequence(sample)).into_iter()) - sum(sample.logprobs.iter().copied());
        let ratio = (gained / n).exp();
        let advantage = sample.reward.unwrap() - 0.5;
        let (free, held) = (ratio * advantage, ratio.clamp(1.0 - low, 1.0 + high) * advantage);
        let share = f64::from(sample.weight) / weights;
        loss -= share * free.min(held);
        let cut = held < free;
        clipped += usize::from(cut);
        check_slope(&trainer, at, &sample.mask, if cut { 0.0 } else { -share * advantage * ratio / n });
    }
    near(report.loss.total(), loss);
    assert!(
        (1..samples.len()).contains(&clipped),
        "{clipped} sequences are clipped, so one side is not tested"
    );
    assert_eq!((trainer.scored.len(), trainer.trained.len()), (0, 1), "one pass is enough");
}

#[test]
fn dpo_prefers_the_best_of_a_group_to_the_worst() {
    let samples = batch();
    let beta = 0.7;
    let (trainer, report) = update(Chosen::of(Dpo { beta }, |s| s), &samples);
    // Rewards 0.5, 1, 0.25 and 1, 0, 0; the third group has no pair.
    let pairs = [(1, 2, 1.0), (3, 4, 1.0)];
    let kept = [1, 2, 3, 4];
    assert_eq!((report.samples_used, report.samples_deselected), (4, 5));
    let mut loss = 0.0;
    for (chosen, rejected, weight) in pairs {
        let margin =
            beta * (log_ratio(&sequence(&samples[chosen])) - log_ratio(&sequence(&samples[rejected])));
        let share = weight / 2.0;
        loss -= share * sigmoid(margin).ln();
        let slope = share * beta * sigmoid(-margin);
        let place = |sample: usize| kept.iter().position(|&at| at == sample).unwrap();
        check_slope(&trainer, place(chosen), &samples[chosen].mask, -slope);
        check_slope(&trainer, place(rejected), &samples[rejected].mask, slope);
    }
    near(report.loss.total(), loss);
    assert_eq!((trainer.scored.len(), trainer.trained.len()), (1, 1), "all are scored before any is trained");
}

#[test]
fn a_pair_weighs_what_its_samples_weigh_on_average() {
    let mut samples = batch();
    samples[1].weight = 0.5;
    let (trainer, _) = update(Chosen::of(Dpo { beta: 1.0 }, |s| s), &samples);
    // (0.5 + 1) / 2 against 1.
    let slopes: Vec<f64> =
        trainer.coefficients.iter().map(|c| f64::from(*c.logprob.last().unwrap())).collect();
    let margin = log_ratio(&sequence(&samples[1])) - log_ratio(&sequence(&samples[2]));
    near(slopes[0], -0.75 / 1.75 * sigmoid(-margin));
    near(slopes[0], -slopes[1]);
}

#[test]
fn kto_measures_each_sample_against_a_baseline_of_mismatched_pairs() {
    let samples = batch();
    let kto = Kto { beta: 0.6, lambda_desirable: 1.5, lambda_undesirable: 0.8, threshold: None };
    let (trainer, report) = update(Chosen::of(kto, |s| s), &samples);
    // Group means are 7/12 and 1/3; the third group is equal to its mean and left out.
    let labels = [-1.0, 1.0, -1.0, 1.0, -1.0, -1.0];
    assert_eq!((report.samples_used, report.samples_deselected), (6, 3));
    // Prompts of group 0 go with the next words of group 1, and the other way round.
    let said_by = [3, 3, 3, 0, 0, 0];
    let mismatched: Vec<Vec<TokenId>> =
        (0..6).map(|at| [&samples[at].tokens[..2], &samples[said_by[at]].tokens[2..]].concat()).collect();
    assert_eq!(trainer.scored, std::slice::from_ref(&mismatched));
    let ratio = |tokens: &Vec<TokenId>| {
        let needed: Vec<bool> = (0..tokens.len()).map(|t| t >= 2).collect();
        log_ratio(&TrainSequence { tokens, needed: &needed })
    };
    let z = mismatched.iter().map(ratio).sum::<f64>() / 6.0;
    assert!(z > 0.0, "the baseline is cut at 0, which is not what is tested here");
    let weights = 5.5;
    let mut loss = 0.0;
    for (at, sample) in samples[..6].iter().enumerate() {
        let lambda = if labels[at] > 0.0 { 1.5 } else { 0.8 };
        let value = sigmoid(labels[at] * 0.6 * (log_ratio(&sequence(sample)) - z));
        let share = f64::from(sample.weight) / weights;
        loss += share * lambda * (1.0 - value);
        let slope = -labels[at] * share * lambda * 0.6 * value * (1.0 - value);
        check_slope(&trainer, at, &sample.mask, slope);
    }
    near(report.loss.total(), loss);
}

#[test]
fn kto_can_divide_by_a_fixed_reward_and_has_no_baseline_in_one_group() {
    let samples = &batch()[..3];
    let kto = Kto { beta: 1.0, threshold: Some(0.5), ..Kto::default() };
    let (trainer, report) = update(Chosen::of(kto, |s| s), samples);
    assert_eq!(report.samples_used, 2, "a reward equal to the threshold is neither");
    assert!(trainer.scored.is_empty());
    let want: f64 = [(1, 1.0), (2, -1.0)]
        .map(|(at, sign): (usize, f64)| 0.5 * (1.0 - sigmoid(sign * log_ratio(&sequence(&samples[at])))))
        .iter()
        .sum();
    near(report.loss.total(), want);
}

#[test]
fn a_pair_is_never_split_over_minibatches() {
    let mut samples: Vec<Sample> = Vec::new();
    for group in 0..8 {
        for member in 0..2 {
            let mut one = sample(group, member, &[&[-1.0]], Fate::Reward(f64::from(member)), 0.0);
            one.tokens[0] = TokenId(20 + group);
            samples.push(one);
        }
    }
    let config = LearnConfig {
        objective: Chosen::of(Dpo::default(), |s| s),
        minibatches: 3,
        ..LearnConfig::default()
    };
    let mut trainer = trainer();
    let says = Says(|_, sequence: &TrainSequence<'_>| reference(sequence));
    Learner::new(config, 1).unwrap().update(&mut trainer, &samples, Some(&says), &at()).unwrap();
    assert_eq!(trainer.trained.len(), 3);
    for step in &trainer.trained {
        let prompts: Vec<TokenId> = step.iter().map(|tokens| tokens[0]).collect();
        assert!(prompts.chunks(2).all(|pair| pair.len() == 2 && pair[0] == pair[1]), "{prompts:?}");
    }
}

/// The best of a group is told from all others: `l = log sum_j exp(r_j) - r_best`.
#[derive(Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
struct Listwise {
    #[serde(default)]
    undeclared: bool,
}

impl Component for Listwise {
    const ABOUT: About = About { name: "listwise", summary: "softmax over the group", paper: "" };
}

impl Objective for Listwise {
    fn needs(&self) -> Needs {
        Needs { reward: true, reference: true, ..Needs::default() }
    }

    fn scope(&self) -> Scope {
        Scope::Group
    }

    fn average(&self) -> Average {
        Average::Units
    }

    fn loss(&self, unit: &Unit<'_>, out: &mut [SequenceLoss<'_>]) -> Result<(), Undeclared> {
        if self.undeclared {
            unit.members[0].advantages()?;
        }
        let (mut best, mut total) = (0, 0.0);
        for (at, member) in unit.members.iter().enumerate() {
            total += member.log_ratio_to_reference()?.exp();
            if member.reward()? > unit.members[best].reward()? {
                best = at;
            }
        }
        for (at, (member, out)) in unit.members.iter().zip(out).enumerate() {
            let ratio = member.log_ratio_to_reference()?;
            let (loss, own) = if at == best { (total.ln() - ratio, 1.0) } else { (0.0, 0.0) };
            out.whole(LossParts::of_policy(loss), ratio.exp() / total - own, false);
        }
        Ok(())
    }
}

fn own(text: &str) -> Chosen<dyn Objective> {
    let components = register(Components::default()).with(entry!(Listwise as dyn Objective));
    let config: LearnConfig = components.reading(|| toml::from_str(text)).unwrap();
    config.objective
}

#[test]
fn a_callers_objective_may_couple_whole_groups() {
    let samples = batch();
    let (trainer, report) = update(own("objective = { type = \"listwise\" }"), &samples[..3]);
    let ratios: Vec<f64> = samples[..3].iter().map(|s| log_ratio(&sequence(s))).collect();
    let total: f64 = ratios.iter().map(|r| r.exp()).sum();
    near(report.loss.total(), total.ln() - ratios[1]);
    for (at, ratio) in ratios.iter().enumerate() {
        let want = ratio.exp() / total - if at == 1 { 1.0 } else { 0.0 };
        check_slope(&trainer, at, &samples[at].mask, want);
    }
}

#[test]
fn what_an_objective_does_not_declare_it_cannot_read() {
    let samples = batch();
    let learner = learner(own("objective = { type = \"listwise\", undeclared = true }"));
    let says = Says(|_, sequence: &TrainSequence<'_>| reference(sequence));
    let error = learner.update(&mut trainer(), &samples, Some(&says), &at()).unwrap_err().to_string();
    assert_eq!(error, "objective `listwise` reads `advantages`, which it does not declare in `needs()`");
}

#[test]
fn a_teachers_tokens_have_the_ratio_to_a_stand_in_that_knows_what_the_policy_can_do() {
    let mut samples = batch();
    // The first of each group is the teacher's; the others of the second group solve nothing.
    for guest in samples.iter_mut().step_by(3) {
        guest.on_policy = false;
    }
    let shift = Shift::Accuracy;
    let objective = MixedPolicy { clip_low: 1.0, clip_high: 1e9, shift };
    let (trainer, report) = update(Chosen::of(objective, |s| s), &samples);
    let own_mean = [(1.0 + 0.25) / 2.0, 0.0, 0.5];
    let tokens: f64 = samples.iter().map(|s| s.trainable() as f64 * f64::from(s.weight)).sum();
    let mut loss = 0.0;
    for (at, sample) in samples.iter().enumerate() {
        let advantage = sample.reward.unwrap() - 0.5;
        for (t, &logprob) in policy(&sequence(sample)).iter().enumerate().filter(|(t, _)| sample.mask[*t]) {
            let pi = f64::from(logprob).exp();
            let p = own_mean[sample.group];
            let ratio = match sample.on_policy {
                true => pi / f64::from(sample.logprobs[t]).exp(),
                false => pi / (pi + (1.0 - pi) * p),
            };
            let share = f64::from(sample.weight) / tokens;
            loss -= share * ratio * advantage;
            near(f64::from(trainer.coefficients[at].logprob[t]), -share * ratio * advantage);
        }
    }
    near(report.loss.total(), loss);
    assert!(report.entropy_guests.is_some() && report.entropy_own.is_some());
}

#[test]
fn only_an_objective_that_says_so_lets_a_teachers_samples_in() {
    let mut samples = batch();
    samples[0].on_policy = false;
    let refused =
        learner(Chosen::of(PolicyGradient::default(), |s| s)).update(&mut trainer(), &samples, None, &at());
    assert!(matches!(refused, Err(LearnError::OffPolicy { .. })), "{refused:?}");
}
