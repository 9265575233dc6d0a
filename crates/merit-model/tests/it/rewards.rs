//! Reward models: the head is a file of its own, gives what `transformers` gives, and learns from preferences.

use crate::support::*;
use merit_core::{Seed, TokenId};
use merit_formats::ModelFiles;
use merit_model::*;
use std::path::PathBuf;

#[derive(serde::Deserialize)]
struct Rewarded {
    ids: Vec<u32>,
    reward: f64,
}

const WIDTH: usize = 24;

/// Weights without a scalar head.
fn plain() -> Weights {
    let config = DecoderConfig { value_head: false, ..odd() };
    assert_eq!(config.d_model, WIDTH);
    Weights::clone(&weights(&config))
}

fn model(weights: Weights) -> RewardModel {
    RewardModel::over(Trainer::new(weights, TrainerSettings::default()).unwrap()).unwrap()
}

#[test]
fn rewards_agree_with_a_sequence_classifier_of_transformers_in_every_family() {
    let families = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/families");
    let mut seen = 0;
    for folder in std::fs::read_dir(families).unwrap() {
        let folder = folder.unwrap().path();
        let weights =
            Weights::from_files(&ModelFiles::open(&folder).unwrap(), LoadOptions::default()).unwrap();
        let bytes = std::fs::read(folder.join(REWARD_HEAD_FILE)).unwrap();
        let head = RewardHead::from_safetensors(&bytes, weights.config().d_model).unwrap();
        let mut model = model(weights.with_reward_head(&head).unwrap());
        assert_eq!(model.head(), head);
        for line in std::fs::read_to_string(folder.join("rewards.jsonl")).unwrap().lines() {
            let Rewarded { ids, reward } = serde_json::from_str(line).unwrap();
            let ids: Vec<TokenId> = ids.into_iter().map(TokenId).collect();
            let got = f64::from(model.score(&[&ids]).unwrap()[0]);
            assert!((got - reward).abs() < 2e-5, "{}: {got} against {reward}", folder.display());
            seen += 1;
        }
    }
    assert!(seen >= 20, "{seen}");
}

#[test]
fn a_damaged_head_is_refused_by_the_name_of_what_is_wrong() {
    let head = RewardHead::new(vec![1.0, 2.0, 3.0], 0.5);
    let bytes = head.to_safetensors();
    let refused = |bytes: &[u8], width| RewardHead::from_safetensors(bytes, width).unwrap_err().to_string();
    assert!(
        refused(&bytes, 4).contains("`score.weight`: has shape [1, 3], want [1, 4]"),
        "{}",
        refused(&bytes, 4)
    );
    assert!(!refused(&bytes[..bytes.len() - 3], 3).is_empty());
    let spoilt = RewardHead::new(vec![1.0, f32::NAN, 3.0], 0.5).to_safetensors();
    assert!(refused(&spoilt, 3).contains("holds NaN at index 1"), "{}", refused(&spoilt, 3));
    let value_head = plain().with_value_head().value_head_to_safetensors().unwrap();
    assert!(
        refused(&value_head, 3).contains("does not belong to a reward head"),
        "{}",
        refused(&value_head, 3)
    );
    let narrow = plain().with_reward_head(&head).unwrap_err().to_string();
    assert!(narrow.contains("is 3 wide"), "{narrow}");
    let headless = Trainer::new(plain(), TrainerSettings::default()).unwrap();
    assert!(
        RewardModel::over(headless).unwrap_err().to_string().contains("needs weights with a reward head")
    );
}

#[test]
fn sequences_that_have_no_end_to_read_are_refused_and_one_that_fills_the_context_says_how_long_it_may_be() {
    let head = RewardHead::new(vec![0.1; WIDTH], 0.0);
    let mut model = model(plain().with_reward_head(&head).unwrap());
    let most = odd().max_context - 1;
    let long = vec![TokenId(1); most + 1];
    assert_eq!(model.score(&[&long[..most]]).unwrap().len(), 1);
    for bad in [&long[..], &[]] {
        let refused = model.score(&[&long[..3], bad]).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("{} tokens; a reward is read behind 1 to {most}", bad.len())),
            "{refused}"
        );
    }
    assert!(model.fit(&[]).unwrap_err().to_string().contains("there is no pair"));
}

/// The chosen sequence of a pair has more even tokens than the rejected one.
fn pairs(seed: u64, count: usize) -> Vec<[Vec<TokenId>; 2]> {
    let mut stream = Seed::root(seed).child("pairs", 0).stream();
    let mut sequence = |even: f64| -> Vec<TokenId> {
        (0..6).map(|_| TokenId(2 * (stream.bits() % 10) as u32 + u32::from(!stream.chance(even)))).collect()
    };
    (0..count).map(|_| [sequence(0.9), sequence(0.1)]).collect()
}

fn preferences(pairs: &[[Vec<TokenId>; 2]], swapped: bool) -> Vec<Preference<'_>> {
    let (chosen, rejected) = if swapped { (1, 0) } else { (0, 1) };
    pairs.iter().map(|pair| Preference { chosen: &pair[chosen], rejected: &pair[rejected] }).collect()
}

#[test]
fn the_gradient_of_a_preference_agrees_with_finite_differences() {
    let pairs = pairs(3, 4);
    let head = RewardHead::new((0..WIDTH).map(|i| 0.3 - 0.1 * (i % 7) as f32).collect(), 0.2);
    let start = plain().with_reward_head(&head).unwrap();
    let mut one = model(start.clone());
    let fit = one.accumulate(&preferences(&pairs, false)).unwrap();
    assert_eq!(fit, one.fit(&preferences(&pairs, false)).unwrap());
    let gradient = one.trainer().gradients().to_vec();
    let largest = gradient.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let mut checked = 0;
    for index in (0..gradient.len()).filter(|&i| gradient[i].abs() > 0.2 * largest).step_by(5) {
        let moved = |by: f32| {
            let mut values = start.clone();
            values.values_mut()[index] += by;
            model(values).fit(&preferences(&pairs, false)).unwrap().loss
        };
        let want = (moved(1e-2) - moved(-1e-2)) / 2e-2;
        let got = f64::from(gradient[index]);
        assert!((want - got).abs() < 0.02 * want.abs() + 1e-4, "weight {index}: {got} against {want}");
        checked += 1;
    }
    assert!(checked >= 5, "{checked}");
}

#[test]
fn the_gradient_of_a_regression_agrees_with_finite_differences() {
    let pairs = pairs(4, 4);
    let sequences: Vec<&[TokenId]> = pairs.iter().flatten().map(Vec::as_slice).collect();
    let targets: Vec<f32> = (0..sequences.len()).map(|at| at as f32 * 0.25 - 1.0).collect();
    let head = RewardHead::new((0..WIDTH).map(|i| 0.3 - 0.1 * (i % 7) as f32).collect(), 0.2);
    let start = plain().with_reward_head(&head).unwrap();
    let loss = |weights: Weights| {
        let rewards = model(weights).score(&sequences).unwrap();
        let off = rewards.iter().zip(&targets).map(|(reward, target)| f64::from(reward - target).powi(2));
        off.sum::<f64>() / targets.len() as f64
    };
    let mut one = model(start.clone());
    assert!((one.accumulate_targets(&sequences, &targets).unwrap() - loss(start.clone())).abs() < 1e-5);
    let gradient = one.trainer().gradients().to_vec();
    let largest = gradient.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let mut checked = 0;
    for index in (0..gradient.len()).filter(|&i| gradient[i].abs() > 0.2 * largest).step_by(5) {
        let moved = |by: f32| {
            let mut values = start.clone();
            values.values_mut()[index] += by;
            loss(values)
        };
        let want = (moved(1e-2) - moved(-1e-2)) / 2e-2;
        let got = f64::from(gradient[index]);
        assert!((want - got).abs() < 0.02 * want.abs() + 1e-3, "weight {index}: {got} against {want}");
        checked += 1;
    }
    assert!(checked >= 3, "{checked}");
    assert!(one.accumulate_targets(&sequences, &[]).unwrap_err().to_string().contains("0 targets for 8"));
}

#[test]
fn a_reward_model_learns_which_of_two_answers_people_liked_and_the_opposite_from_opposite_labels() {
    let (seen, unseen) = (pairs(5, 96), pairs(6, 200));
    let adamw = AdamWSettings { lr: 3e-3, ..AdamWSettings::default() };
    let learned = |swapped: bool| {
        let head = RewardHead::new(vec![0.0; WIDTH], 0.0);
        let mut model = model(plain().with_reward_head(&head).unwrap());
        let before = model.fit(&preferences(&unseen, false)).unwrap();
        assert_eq!(
            (before.accuracy, (before.loss * 1e4).round()),
            (0.5, 6931.0),
            "a head of zeros knows nothing"
        );
        for _ in 0..40 {
            model.accumulate(&preferences(&seen, swapped)).unwrap();
            model.apply(&adamw).unwrap();
        }
        let head = RewardHead::from_safetensors(&model.head().to_safetensors(), WIDTH).unwrap();
        assert_eq!(head, model.head());
        model.fit(&preferences(&unseen, false)).unwrap().accuracy
    };
    let (right, wrong) = (learned(false), learned(true));
    assert!(right > 0.95 && wrong < 0.05, "{right} {wrong}");
}
