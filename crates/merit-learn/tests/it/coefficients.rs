//! The coefficients are the derivatives of the loss that the documentation promises, for every objective of tokens and
//! loss aggregation.

use crate::support::scripted::{Scripted, fixed};
use crate::support::{Fate, mixed_batch, outputs, sample};
use merit_api::trainer::Coefficients;
use merit_core::registry::Chosen;
use merit_core::{Boundary, PolicyVersion, Sample, Seed};
use merit_learn::*;

const NOW: PolicyVersion = PolicyVersion(3);

fn loss_aggs() -> [Chosen<dyn LossAgg>; 3] {
    [
        Chosen::of(TokenMean {}, |s| s),
        Chosen::of(SequenceMean {}, |s| s),
        Chosen::of(ConstantLength { length: 16 }, |s| s),
    ]
}

/// Settings of the policy gradient; absent: `sft`.
type Case = Option<PolicyGradient>;

fn objectives() -> Vec<Case> {
    let kl = |estimator| Some(KlPenalty { coefficient: 0.3, estimator });
    let value = |clip| Some(ValueLoss { coefficient: 0.5, clip });
    let plain = PolicyGradient::default();
    let all = PolicyGradient { kl: kl(Estimator::K3), entropy: 0.02, value: value(Some(0.1)), ..plain };
    let variants = [
        PolicyGradient { kl: kl(Estimator::K1), ..plain },
        PolicyGradient { kl: kl(Estimator::K2), ..plain },
        PolicyGradient { kl: kl(Estimator::K3), ..plain },
        PolicyGradient { dual_clip: Some(1.2), clip_high: 0.1, ..plain },
        PolicyGradient { entropy: 0.1, ..plain },
        PolicyGradient { value: value(None), ..plain },
        PolicyGradient { value: value(Some(0.2)), ..plain },
        all,
        plain,
    ];
    variants.into_iter().map(Some).chain([None]).collect()
}

fn config(case: &Case, loss_agg: &Chosen<dyn LossAgg>) -> LearnConfig {
    let objective =
        case.map_or_else(|| Chosen::<dyn Objective>::of(Sft {}, |s| s), |pg| Chosen::of(pg, |s| s));
    LearnConfig { objective, loss_agg: loss_agg.clone(), ..LearnConfig::default() }
}

fn references(samples: &[Sample]) -> Vec<Vec<f32>> {
    samples
        .iter()
        .map(|s| s.logprobs.iter().enumerate().map(|(t, l)| l + 0.2 - 0.1 * t as f32).collect())
        .collect()
}

fn coefficients(
    samples: &[Sample],
    reference: &[Vec<f32>],
    said: &[[Vec<f32>; 3]],
    config: &LearnConfig,
) -> (Vec<Coefficients>, f64) {
    let mut trainer = Scripted::streams(said);
    let at = UpdateContext { step: 0, version: NOW, temperature: 1.0, seed: Seed::root(1) };
    let learner = Learner::new(config.clone(), 1).unwrap();
    let report = learner.update(&mut trainer, samples, Some(&fixed(reference)), &at).unwrap();
    (trainer.coefficients, report.loss.total())
}

/// The loss written out again, in double precision and in the plainest way, from streams `[sample][stream][token]`.
fn plain_loss(
    samples: &[Sample],
    reference: &[Vec<f32>],
    said: &[[Vec<f64>; 3]],
    case: &Case,
    loss_agg: &str,
) -> f64 {
    let weights: f64 = samples.iter().map(|s| f64::from(s.weight)).sum();
    let tokens: f64 = samples.iter().map(|s| f64::from(s.weight) * s.trainable() as f64).sum();
    let mut total = 0.0;
    for (i, sample) in samples.iter().enumerate() {
        let share = match loss_agg {
            "token" => 1.0 / tokens,
            "sequence" => 1.0 / (sample.trainable() as f64 * weights),
            _ => 1.0 / (16.0 * weights),
        };
        for t in (0..sample.tokens.len()).filter(|&t| sample.mask[t]) {
            let [logprob, entropy, value] = [said[i][0][t], said[i][1][t], said[i][2][t]];
            let token = match case {
                None => -logprob,
                Some(pg) => {
                    let ratio = (logprob - f64::from(sample.logprobs[t])).exp();
                    let a = f64::from(sample.advantages.as_ref().unwrap()[t]);
                    let held = ratio.min(1.0 + pg.clip_high).max(1.0 - pg.clip_low);
                    let mut loss = -(ratio * a).min(held * a);
                    if let Some(most) = pg.dual_clip.filter(|_| a < 0.0) {
                        loss = loss.min(-most * a);
                    }
                    loss -= pg.entropy * entropy;
                    if let Some(kl) = pg.kl {
                        let r = f64::from(reference[i][t]);
                        loss += kl.coefficient
                            * match kl.estimator {
                                Estimator::K1 => logprob - r,
                                Estimator::K2 => (logprob - r).powi(2) / 2.0,
                                Estimator::K3 => (r - logprob).exp() - (r - logprob) - 1.0,
                            };
                    }
                    if let Some(config) = pg.value {
                        let (old, target) =
                            (f64::from(sample.values[t]), f64::from(sample.returns.as_ref().unwrap()[t]));
                        let mut error = (value - target).powi(2);
                        if let Some(c) = config.clip {
                            error = error.max((value.min(old + c).max(old - c) - target).powi(2));
                        }
                        loss += config.coefficient * error / 2.0;
                    }
                    loss
                }
            };
            total += f64::from(sample.weight) * share * token;
        }
    }
    total
}

#[test]
fn every_objective_of_tokens_and_loss_aggregation_agrees_with_finite_differences() {
    let samples = mixed_batch();
    let reference = references(&samples);
    let mut clipped = 0;
    for seed in 0..5 {
        let said = outputs(&samples, 0.6, seed);
        let wide: Vec<[Vec<f64>; 3]> = said
            .iter()
            .map(|streams| streams.clone().map(|s| s.into_iter().map(f64::from).collect()))
            .collect();
        for case in objectives() {
            for loss_agg in loss_aggs() {
                let (config, name) = (config(&case, &loss_agg), loss_agg.about().name);
                let (got, loss) = coefficients(&samples, &reference, &said, &config);
                assert!(
                    (loss - plain_loss(&samples, &reference, &wide, &case, name)).abs() < 1e-9,
                    "{config:?}"
                );
                for (i, sample) in samples.iter().enumerate() {
                    for stream in 0..3 {
                        let derivatives = [&got[i].logprob, &got[i].entropy, &got[i].value][stream];
                        for t in 0..sample.tokens.len() {
                            let nudged = |h: f64| {
                                let mut nudged = wide.clone();
                                nudged[i][stream][t] += h;
                                plain_loss(&samples, &reference, &nudged, &case, name)
                            };
                            let want = (nudged(1e-5) - nudged(-1e-5)) / 2e-5;
                            let have = f64::from(derivatives.get(t).copied().unwrap_or(0.0));
                            assert!(
                                (have - want).abs() < 1e-6,
                                "{config:?} {i} {stream} {t}: {have}, not {want}"
                            );
                            clipped += usize::from(stream == 0 && sample.mask[t] && have == 0.0);
                        }
                    }
                }
            }
        }
    }
    assert!(clipped > 0, "the clip was never reached, so it was not tested");
}

#[test]
fn the_numbers_of_a_small_batch_can_be_worked_out_by_hand() {
    // Two samples of 1 and 3 tokens at ratio 1: every token's derivative is -A / 4.
    let samples = [
        sample(0, 0, &[&[-1.0]], Fate::Reward(1.0), 2.0),
        sample(0, 1, &[&[-1.0, -1.0, -1.0]], Fate::Reward(0.0), -1.0),
    ];
    let said: Vec<[Vec<f32>; 3]> =
        samples.iter().map(|s| [s.logprobs.clone(), vec![0.0; s.tokens.len()], Vec::new()]).collect();
    let (got, loss) = coefficients(&samples, &references(&samples), &said, &LearnConfig::default());
    assert_eq!(got[0].logprob, [0.0, 0.0, -0.5]);
    assert_eq!(got[1].logprob, [0.0, 0.0, 0.25, 0.25, 0.25]);
    // -(2 - 1 - 1 - 1) / 4
    assert_eq!(loss, 0.25);
}

/// The bits of all coefficients of a batch.
fn bits(samples: &[Sample], config: &LearnConfig) -> Vec<Vec<u32>> {
    let kept: Vec<Sample> = samples.iter().filter(|s| s.trainable() > 0).cloned().collect();
    let said = outputs(&kept, 0.3, 1);
    let reference = references(&kept);
    let (got, _) = coefficients(samples, &reference, &said, config);
    let flat =
        |c: Coefficients| [c.logprob, c.entropy, c.value].concat().into_iter().map(f32::to_bits).collect();
    got.into_iter().map(flat).collect()
}

#[test]
fn episodes_without_a_verdict_change_neither_gradient_nor_denominator() {
    let fates = [
        Fate::Broken(Boundary::Environment),
        Fate::Broken(Boundary::Tool),
        Fate::Broken(Boundary::Model),
        Fate::Broken(Boundary::Reward),
        Fate::Unscorable,
        Fate::GraderFailed,
    ];
    for case in objectives() {
        for loss_agg in loss_aggs() {
            let config = config(&case, &loss_agg);
            let clean = mixed_batch();
            let want = bits(&clean, &config);
            for fate in fates {
                // Long, heavy and full of credit: if it were looked at anywhere, it would show.
                let mut broken = sample(0, 9, &[&[-1.0; 40]], fate, 100.0);
                broken.weight = 7.0;
                let mut with = clean.clone();
                with.insert(1, broken);
                assert_eq!(bits(&with, &config), want, "{fate:?} {config:?}");
                let batch = Batch::of_samples(&with, &config, NOW).unwrap();
                assert_eq!(batch.dropped, Dropped { masked: 1, deselected: 0 });
            }
        }
    }
}

#[test]
fn a_broken_episode_is_not_asked_for_what_only_verdicts_have() {
    let mut broken = sample(0, 9, &[&[-1.0]], Fate::Broken(Boundary::Tool), 0.0);
    broken.advantages = None;
    broken.on_policy = false;
    let batch = [broken];
    let batch = Batch::of_samples(&batch, &LearnConfig::default(), NOW).unwrap();
    assert!(batch.entries.is_empty());
}

#[test]
fn a_policy_that_is_wrong_counts_where_a_broken_world_does_not() {
    let right = sample(0, 0, &[&[-1.0]], Fate::Reward(1.0), 0.5);
    let wrong = sample(0, 1, &[&[-1.0]], Fate::Reward(0.0), -0.5);
    let alone = bits(std::slice::from_ref(&right), &LearnConfig::default());
    let both = bits(&[right, wrong], &LearnConfig::default());
    assert_ne!(alone[0], both[0], "the failed attempt must be in the denominator");
}
