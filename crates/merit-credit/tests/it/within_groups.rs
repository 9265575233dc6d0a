//! Group rules against numbers worked out by hand, and every outcome followed to mask, baseline and advantage.

use merit_core::{Group, Outcome};
use merit_credit::conformance::Sketch;
use merit_credit::rules::{Contrastive, DrGrpo, GroupWhitened, Grpo, Rloo, TwoLevel};
use merit_credit::{Credit, CreditBatch, CreditError, CreditRule};

const DR_GRPO: DrGrpo = DrGrpo {};
const RLOO: Rloo = Rloo {};

fn assign(rule: &dyn CreditRule, groups: &[Vec<Sketch>]) -> Credit {
    let groups: Vec<Group> =
        groups.iter().enumerate().map(|(at, members)| Sketch::group(members, at as u32).unwrap()).collect();
    rule.assign(&CreditBatch::new(&groups)).unwrap()
}

/// One episode of one turn, three tokens written.
fn wrote(outcome: Outcome, reward: f64) -> Sketch {
    Sketch::new(&[(3, 0)], outcome, reward)
}

fn rewarded(rewards: &[f64]) -> Vec<Sketch> {
    rewards.iter().map(|&r| wrote(Outcome::PolicyWrong, r)).collect()
}

/// The advantage of each episode, checked to be the same on all its trainable tokens.
fn advantages(credit: &Credit) -> Vec<f32> {
    let of_sample = |sample: &merit_core::Sample| {
        let advantages = sample.advantages.as_ref().unwrap();
        let trained: Vec<f32> =
            advantages.iter().zip(&sample.mask).filter(|(_, m)| **m).map(|(a, _)| *a).collect();
        assert!(trained.windows(2).all(|pair| pair[0] == pair[1]));
        trained.first().copied().unwrap_or(0.0)
    };
    credit.samples.iter().map(of_sample).collect()
}

fn check(rule: &dyn CreditRule, rewards: &[f64], want: &[f64]) {
    let got = advantages(&assign(rule, &[rewarded(rewards)]));
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        assert!((f64::from(*got) - want).abs() < 1e-6, "{rewards:?}: {got}, not {want}");
    }
}

#[test]
fn grpo_divides_by_the_unbiased_spread() {
    // mean 1/2; squares 4 · 1/4 = 1; std sqrt(1/3) = 0.577350; 0.5 / (0.577350 + 1e-6) = 0.866024.
    check(&Grpo::default(), &[1.0, 0.0, 0.0, 1.0], &[0.866024, -0.866024, -0.866024, 0.866024]);
    // mean 2; squares 1 + 0 + 1 = 2; std sqrt(2/2) = 1; 1 / 1.000001 = 0.999999.
    check(&Grpo::default(), &[1.0, 2.0, 3.0], &[-0.999999, 0.0, 0.999999]);
}

#[test]
fn grpo_without_the_spread_is_dr_grpo() {
    for rule in [&Grpo { scale_by_std: false } as &dyn CreditRule, &DR_GRPO] {
        check(rule, &[1.0, 0.0, 0.0, 1.0], &[0.5, -0.5, -0.5, 0.5]);
        check(rule, &[4.0, 0.0, 2.0], &[2.0, -2.0, 0.0]);
    }
}

/// Episodes of one turn with these rewards and lengths.
fn of_lengths(members: &[(f64, usize)]) -> Vec<Sketch> {
    members
        .iter()
        .map(|&(reward, tokens)| Sketch::new(&[(tokens, 0)], Outcome::PolicyWrong, reward))
        .collect()
}

fn contrasted(keep: usize, tie: f64, members: &[(f64, usize)]) -> (Vec<f32>, Vec<f32>) {
    let credit = assign(&Contrastive { keep, tie }, &[of_lengths(members)]);
    (advantages(&credit), credit.samples.iter().map(|sample| sample.weight).collect())
}

#[test]
fn normalising_before_dropping_is_not_the_same() {
    // Of 0, 0, 1, 1 the short 1 and the long 0: mean 1/2, std sqrt(1/2); 0.5 / (sqrt(0.5) + 1e-6). GRPO over all four gives 0.866024.
    let half = (0.5 / (0.5_f64.sqrt() + 1e-6)) as f32;
    let (advantages, weights) = contrasted(2, 0.0, &[(0.0, 3), (0.0, 5), (1.0, 3), (1.0, 5)]);
    for (got, want) in advantages.iter().zip([0.0, -half, half, 0.0]) {
        assert!((got - want).abs() < 1e-6, "{advantages:?}");
    }
    assert_eq!(weights, [0.0, 1.0, 1.0, 0.0], "what is not chosen has no weight");
}

#[test]
fn the_length_tiebreak_never_outranks_a_reward_difference() {
    // 0.9 is on another step of 0.05 than 0.8: it is chosen though it is longer. 0.81 and 0.8 are on the same: the shorter is.
    assert_eq!(contrasted(2, 0.05, &[(0.9, 9), (0.8, 2), (0.1, 2)]).1, [1.0, 0.0, 1.0]);
    assert_eq!(contrasted(2, 0.05, &[(0.81, 9), (0.8, 2), (0.1, 2)]).1, [0.0, 1.0, 1.0]);
}

#[test]
fn who_cannot_be_told_apart_is_chosen_together() {
    assert_eq!(contrasted(2, 0.05, &[(1.0, 3), (1.0, 3), (0.5, 3), (0.0, 3)]).1, [1.0, 1.0, 0.0, 1.0]);
}

#[test]
fn outcome_and_steps_are_normalised_apart() {
    // Outcomes 1, 0, 0, 1 beside turns paid (0.5, 0), (0, 0), (0.5, 0), (0, 0): mean 1/2 and std 0.577350; mean 1/8 and, over eight turns,
    // squares 2 · 0.140625 + 6 · 0.015625 = 0.375, std sqrt(0.375 / 7) = 0.231455.
    let member = |outcome: f64, paid: f64| {
        let sketch = Sketch::new(&[(2, 1), (3, 0)], Outcome::PolicyWrong, outcome + paid);
        Sketch { turn_rewards: vec![paid, 0.0], ..sketch }
    };
    let group = vec![member(1.0, 0.5), member(0.0, 0.0), member(0.0, 0.5), member(1.0, 0.0)];
    let credit = assign(&TwoLevel::default(), &[group]);
    let at = |member: usize, turn: usize| {
        let sample = &credit.samples[member];
        f64::from(sample.advantages.as_ref().unwrap()[sample.turns[turn].start])
    };
    let (outcome, paid, unpaid) = (0.5 / 0.577350, 0.375 / 0.231455, -0.125 / 0.231455);
    let wants = [
        (0, 0, outcome + 0.5 * paid),
        (0, 1, outcome + 0.5 * unpaid),
        (2, 0, -outcome + 0.5 * paid),
        (1, 1, -outcome + 0.5 * unpaid),
    ];
    for (member, turn, want) in wants {
        assert!(
            (at(member, turn) - want).abs() < 1e-4,
            "{member} {turn}: {} and not {want}",
            at(member, turn)
        );
    }
}

#[test]
fn without_pay_by_turn_two_levels_are_grpo() {
    let want = [0.866024, -0.866024, -0.866024, 0.866024];
    check(&TwoLevel::default(), &[1.0, 0.0, 0.0, 1.0], &want);
    // Nor does pay that is the same at every turn tell the turns of an episode apart.
    let member = |outcome: f64| {
        let sketch = Sketch::new(&[(2, 1), (3, 0)], Outcome::PolicyWrong, outcome + 0.5);
        Sketch { turn_rewards: vec![0.25, 0.25], ..sketch }
    };
    let got = advantages(&assign(&TwoLevel::default(), &[[1.0, 0.0, 0.0, 1.0].map(member).to_vec()]));
    assert!(got.iter().zip(want).all(|(got, want)| (f64::from(*got) - want).abs() < 1e-6), "{got:?}");
}

#[test]
fn rloo_takes_the_mean_of_the_others() {
    // Of a 1: 1 − (0 + 0 + 1)/3 = 2/3. Of a 0: 0 − (1 + 0 + 1)/3 = −2/3.
    let two_thirds = 2.0 / 3.0;
    check(&RLOO, &[1.0, 0.0, 0.0, 1.0], &[two_thirds, -two_thirds, -two_thirds, two_thirds]);
    // 5 − 1 = 4 and 1 − 5 = −4.
    check(&RLOO, &[5.0, 1.0], &[4.0, -4.0]);
}

#[test]
fn differences_to_the_group_are_whitened_over_the_tokens_of_the_batch() {
    // Less their group's mean: 1 and -1 (one token each), 0.1 on three tokens and -0.1 on one. Over the six tokens: mean 0.2 / 6, squares
    // 1 + 1 + 4 · 0.01 - 6 · (0.2 / 6)^2 = 2.033333, variance / 5 = 0.406667. GRPO would give both groups the same size.
    let groups = [of_lengths(&[(2.0, 1), (0.0, 1)]), of_lengths(&[(0.6, 3), (0.4, 1)])];
    let got = advantages(&assign(&GroupWhitened {}, &groups));
    let mean: f64 = 0.2 / 6.0;
    let std = ((2.04 - 6.0 * mean * mean) / 5.0 + 1e-8).sqrt();
    for (got, x) in got.iter().zip([1.0, -1.0, 0.1, -0.1]) {
        assert!((f64::from(*got) - (x - mean) / std).abs() < 1e-5, "{got} of {x}");
    }
}

#[test]
fn a_lone_member_gets_exactly_0() {
    for rule in [&Grpo::default() as &dyn CreditRule, &DR_GRPO, &RLOO] {
        assert_eq!(advantages(&assign(rule, &[rewarded(&[7.0])])), [0.0]);
    }
}

#[test]
fn equal_rewards_get_exactly_0_even_with_float_noise() {
    for rule in [&Grpo::default() as &dyn CreditRule, &DR_GRPO, &RLOO] {
        for rewards in [[1.0, 1.0, 1.0], [0.3, 0.1 + 0.2, 0.3], [1e9, 1e9 + 0.5, 1e9], [1e-12, 2e-12, 0.0]] {
            let credit = assign(rule, &[rewarded(&rewards)]);
            assert_eq!(advantages(&credit), [0.0; 3], "{rewards:?}");
            assert_eq!(credit.report.constant_groups, 1);
        }
    }
}

#[test]
fn a_real_difference_is_not_noise() {
    // Both differences are far above 1e-9 of the size; GRPO blows them up to order 1, and no further.
    for rewards in [[0.0, 1e-6, 2e-6], [1e3, 1e3 + 1e-3, 1e3]] {
        let got = advantages(&assign(&Grpo::default(), &[rewarded(&rewards)]));
        assert!(
            got.iter().any(|a| a.abs() > 0.1) && got.iter().all(|a| a.abs() < 2.0),
            "{rewards:?}: {got:?}"
        );
    }
}

#[test]
fn groups_of_other_tasks_do_not_matter() {
    let credit = assign(&DR_GRPO, &[rewarded(&[1.0, 0.0]), rewarded(&[100.0, 0.0, 50.0]), rewarded(&[3.0])]);
    assert_eq!(advantages(&credit), [0.5, -0.5, 50.0, -50.0, 0.0, 0.0]);
    assert_eq!(credit.samples.iter().map(|s| s.group).collect::<Vec<_>>(), [0, 0, 1, 1, 1, 2]);
}

#[test]
fn credit_lies_on_what_the_policy_wrote_and_nowhere_else() {
    let ragged = vec![
        Sketch::new(&[(2, 3), (1, 0)], Outcome::Solved, 1.0),
        Sketch::new(&[(1, 1)], Outcome::PolicyWrong, 0.0),
    ];
    let credit = assign(&DR_GRPO, &[ragged]);
    // Two opening tokens, then: wrote 2, was shown 3, wrote 1.
    let want = [0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.5];
    assert_eq!(credit.samples[0].advantages.as_deref(), Some(&want[..]));
    assert_eq!(credit.samples[1].advantages.as_deref(), Some(&[0.0, 0.0, -0.5, 0.0][..]));
}

#[test]
fn each_outcome_reaches_mask_baseline_and_advantage_as_it_must() {
    // The two sound members have rewards 1 and 0. A third that counts, with reward 2, moves the mean from 1/2 to 1;
    // one that does not count leaves it at 1/2, whatever number was in its place.
    for outcome in Outcome::ALL {
        let group = vec![wrote(Outcome::Solved, 1.0), wrote(Outcome::PolicyWrong, 0.0), wrote(outcome, 2.0)];
        let credit = assign(&DR_GRPO, &[group]);
        let third = &credit.samples[2];
        if outcome.is_valid() {
            assert_eq!(advantages(&credit), [0.0, -1.0, 1.0], "{outcome:?}");
            assert_eq!(third.trainable(), 3, "{outcome:?}");
            assert!(credit.report.excluded.is_empty());
        } else {
            assert_eq!(advantages(&credit), [0.5, -0.5, 0.0], "{outcome:?}");
            assert!(third.mask.iter().all(|m| !m), "{outcome:?}");
            assert!(third.advantages.as_ref().unwrap().iter().all(|a| *a == 0.0));
            assert_eq!(credit.report.excluded.get(&outcome), Some(&1));
            assert!(credit.explain(2).unwrap().contains(outcome.name()));
        }
    }
}

#[test]
fn a_failure_beside_one_verdict_leaves_a_lone_member() {
    for rule in [&Grpo::default() as &dyn CreditRule, &DR_GRPO, &RLOO] {
        let group = vec![wrote(Outcome::Solved, 1.0), wrote(Outcome::InfrastructureFailed, 0.0)];
        let credit = assign(rule, &[group]);
        assert_eq!(advantages(&credit), [0.0, 0.0]);
        assert_eq!((credit.report.constant_groups, credit.report.lone_groups), (1, 1));
    }
}

#[test]
fn a_group_of_failures_alone_is_counted_and_gets_nothing() {
    let credit =
        assign(&Grpo::default(), &[vec![wrote(Outcome::GraderFailed, 0.0), wrote(Outcome::Unscorable, 0.0)]]);
    assert_eq!(advantages(&credit), [0.0, 0.0]);
    assert_eq!(credit.report.trainable_tokens, 0);
    assert_eq!(credit.report.excluded.values().sum::<usize>(), 2);
}

#[test]
fn the_report_says_what_was_handed_out() {
    let credit = assign(&DR_GRPO, &[rewarded(&[3.0, 0.0]), rewarded(&[1.0, 1.0])]);
    let report = &credit.report;
    assert_eq!((report.groups, report.constant_groups, report.lone_groups, report.episodes), (2, 1, 0, 4));
    assert_eq!(report.trainable_tokens, 12);
    // Three tokens each of 1.5, −1.5, 0, 0: mean 0, variance 4.5 / 4.
    assert_eq!(report.advantage_mean, 0.0);
    assert!((report.advantage_std - 1.125_f64.sqrt()).abs() < 1e-12);
    assert_eq!(report.advantage_largest, 1.5);
}

#[test]
fn the_explanation_shows_reward_mean_and_spread() {
    let credit = assign(&Grpo::default(), &[rewarded(&[1.0, 2.0, 3.0])]);
    let text = credit.explain(2).unwrap();
    let want = "\
sample sketch/0/0/2, group 0
reward 3, 3 valid members, group mean 2, group std 1
advantage of each of 3 trainable tokens = 0.999999: (3 − 2) / (1 + 0.000001)
";
    assert_eq!(text, want);
    assert_eq!(credit.explain(3), None);
    let alone = assign(&RLOO, &[rewarded(&[3.0])]).explain(0).unwrap();
    assert!(alone.contains("= 0: alone in its group"), "{alone}");
}

#[test]
fn a_reward_that_is_no_number_is_refused() {
    let group = Sketch::group(&rewarded(&[1.0, f64::NAN]), 0).unwrap();
    let error = Grpo::default().assign(&CreditBatch::new(&[group])).unwrap_err();
    assert!(matches!(error, CreditError::NotFinite { what: "reward", .. }), "{error}");
}
