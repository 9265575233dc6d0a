//! The ablation that trains what tools and the world said.

use crate::whole::{Made, small, train};

const MASK: &str = "{ type = 'train-on-observations' }";

#[test]
fn training_on_observations_is_refused_where_nobody_says_that_it_is_an_ablation() {
    let recipe = small(&[]);
    let error = recipe.with(&[("learn.mask".into(), MASK.into())]).unwrap_err().to_string();
    assert!(error.contains("say `ablation = true` at the top of the recipe"), "{error}");
    let changes = [("ablation".to_owned(), "false".to_owned())];
    assert_eq!(recipe.with(&changes).unwrap().hash(), recipe.hash(), "what is not said is not in the hash");
}

#[test]
fn training_on_observations_trains_more_tokens_and_other_weights_and_the_report_names_it() {
    let differing = "[{ type = 'exact-answer' }, { type = 'cost', per_token = 0.01 }]";
    let plain = [("reward.of", differing), ("learn.minibatches", "1")];
    let ablated = [&plain[..], &[("ablation", "true"), ("learn.mask", MASK)]].concat();
    let ((_a, plain), (_b, ablated)) = (train(&small(&plain)), train(&small(&ablated)));
    let numbers = |made: &Made, name: &str| made.folder.metric("train", name).unwrap();
    // The first step plays the same episodes; only the update differs.
    let (masked, unmasked) = (numbers(&plain, "tokens")[0].1, numbers(&ablated, "tokens")[0].1);
    assert!(unmasked > masked, "{unmasked} trained tokens, {masked} of them the policy's");
    assert_eq!(numbers(&plain, "reward")[0], numbers(&ablated, "reward")[0]);
    assert!(plain.file("policy.safetensors") != ablated.file("policy.safetensors"));
    // Recomputed under the weights before the update, so that nothing seems to have moved before it.
    assert!((numbers(&ablated, "ratio")[0].1 - 1.0).abs() < 1e-5);
    assert!(numbers(&ablated, "logprob_gap")[0].1 < 1e-4);
    let report = |made: &Made| std::fs::read_to_string(&made.finished.report).unwrap();
    assert!(
        report(&ablated)
            .contains("<strong>Ablation</strong>: `train` also trains what tools and the world said")
    );
    assert!(!report(&plain).contains("Ablation"));
}
