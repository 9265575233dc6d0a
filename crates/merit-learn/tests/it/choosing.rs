//! Selectors, masks and minibatches: what counts, and that the choice is the same every time.

use crate::support::{Fate, mixed_batch, sample};
use merit_core::registry::Chosen;
use merit_core::{PolicyVersion, Sample, Seed};
use merit_learn::*;
use proptest::prelude::*;

const NOW: PolicyVersion = PolicyVersion(3);

fn all_tokens() -> Chosen<dyn Mask> {
    Chosen::of(PolicyTokens {}, |s| s)
}

/// Names of the episodes that count.
fn kept(samples: &[Sample], selector: Chosen<dyn Selector>, mask: Chosen<dyn Mask>) -> Vec<String> {
    let config = LearnConfig { selector, mask, ..LearnConfig::default() };
    let batch = Batch::of_samples(samples, &config, NOW).unwrap();
    batch.entries.into_iter().map(|e| e.name).collect()
}

#[test]
fn groups_without_credit_can_be_left_out() {
    let samples = [
        sample(0, 0, &[&[-1.0]], Fate::Reward(1.0), 0.0),
        sample(0, 1, &[&[-1.0]], Fate::Reward(1.0), 1e-8),
        sample(1, 0, &[&[-1.0]], Fate::Reward(1.0), 0.0),
        sample(1, 1, &[&[-1.0]], Fate::Reward(0.0), -0.5),
    ];
    let kept = kept(&samples, Chosen::of(DropConstantGroups {}, |s| s), all_tokens());
    assert_eq!(kept, ["episode train/4/1/0", "episode train/4/1/1"]);
}

#[test]
fn only_samples_with_positive_credit_can_be_kept() {
    let kept = kept(&mixed_batch(), Chosen::of(PositiveCredit {}, |s| s), all_tokens());
    assert_eq!(kept, ["episode train/4/0/0", "episode train/4/1/0"]);
}

#[test]
fn a_weight_of_zero_leaves_a_sample_out() {
    let mut samples = mixed_batch();
    samples[0].weight = 0.0;
    let batch = Batch::of_samples(&samples, &LearnConfig::default(), NOW).unwrap();
    assert_eq!((batch.entries.len(), batch.dropped), (2, Dropped { masked: 0, deselected: 1 }));
}

#[test]
fn truncated_samples_can_be_masked_whole() {
    let kept = kept(&mixed_batch(), Chosen::of(All {}, |s| s), Chosen::of(DropTruncated {}, |s| s));
    assert_eq!(kept, ["episode train/4/0/0", "episode train/4/0/1"]);
}

#[test]
fn a_budget_of_tokens_cuts_in_random_order_and_keeps_the_credit() {
    let samples = mixed_batch();
    let whole = Batch::of_samples(&samples, &LearnConfig::default(), NOW).unwrap();
    let all: usize = whole.entries.iter().map(Entry::trained).sum();
    let mut first = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let mut batch = whole.clone();
        batch.cut(all - 1, &Seed::root(seed));
        assert_eq!(batch.entries.iter().map(Entry::trained).sum::<usize>(), all - 1);
        assert!(
            batch.entries.iter().all(|entry| entry.trained() > 0 && entry.tokens.len() == entry.mask.len())
        );
        let mut small = whole.clone();
        small.cut(1, &Seed::root(seed));
        assert_eq!(
            (small.entries.len(), small.units.len(), small.dropped.deselected),
            (1, 1, whole.entries.len() - 1)
        );
        first.insert(small.entries[0].name.clone());
    }
    // Whoever is cut is drawn: no sample is always the one.
    assert_eq!(first.len(), whole.entries.len());
}

#[test]
fn the_last_turn_can_be_trained_alone() {
    // Two prompt tokens, two of the first turn, one observation, two of the last turn.
    let samples = mixed_batch();
    assert_eq!(PolicyTokens {}.of(&samples[1]), [false, false, true, true, false, true, true]);
    assert_eq!(LastTurn {}.of(&samples[1]), [false, false, false, false, false, true, true]);
}

proptest! {
    #[test]
    fn minibatches_cover_every_sample_once_and_are_even(samples in 0_usize..80, parts in 1_usize..12, seed: u64) {
        let cut = split(samples, parts, Seed::root(seed));
        prop_assert_eq!(&cut, &split(samples, parts, Seed::root(seed)));
        prop_assert_eq!(cut.len(), parts.min(samples));
        let mut all = cut.concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..samples).collect::<Vec<_>>());
        let sizes = cut.iter().map(Vec::len);
        prop_assert!(sizes.clone().max().unwrap_or(0) - sizes.min().unwrap_or(0) <= 1);
        prop_assert!(cut.iter().all(|part| part.is_sorted()));
    }

    #[test]
    fn a_mask_only_takes_tokens_away(mask in proptest::collection::vec(any::<bool>(), 7), truncated: bool) {
        let mut sample = mixed_batch().swap_remove(1);
        sample.mask = mask;
        sample.truncated = truncated;
        let masks: [&dyn Mask; 3] = [&PolicyTokens {}, &DropTruncated {}, &LastTurn {}];
        for rule in masks {
            let kept = rule.of(&sample);
            prop_assert!(kept.iter().zip(&sample.mask).all(|(&kept, &own)| own || !kept));
        }
    }

    #[test]
    fn weights_matter_only_in_relation_to_each_other(
        sizes in proptest::collection::vec((1_usize..50, 0.1_f64..4.0), 1..8),
    ) {
        let doubled: Vec<(usize, f64)> = sizes.iter().map(|&(n, w)| (n, 2.0 * w)).collect();
        let loss_aggs: [&dyn LossAgg; 3] = [&TokenMean {}, &SequenceMean {}, &ConstantLength { length: 9 }];
        for loss_agg in loss_aggs {
            prop_assert_eq!(loss_agg.scales(&sizes), loss_agg.scales(&doubled));
        }
    }

    #[test]
    fn the_means_are_means(sizes in proptest::collection::vec((1_usize..50, 0.1_f64..4.0), 1..8)) {
        // A loss of 1 on every token must come out as 1.
        let loss_aggs: [&dyn LossAgg; 2] = [&TokenMean {}, &SequenceMean {}];
        for loss_agg in loss_aggs {
            let scales = loss_agg.scales(&sizes);
            let total: f64 = scales.iter().zip(&sizes).map(|(s, (n, _))| s * *n as f64).sum();
            prop_assert!((total - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_third_estimator_is_never_negative(logprob in -30.0_f64..0.0, reference in -30.0_f64..0.0) {
        prop_assert!(Estimator::K3.estimate(logprob, reference) >= 0.0);
    }
}

#[test]
fn different_epochs_see_different_minibatches() {
    let seed = Seed::root(5);
    assert_ne!(split(32, 4, seed.child("epoch", 0)), split(32, 4, seed.child("epoch", 1)));
}
