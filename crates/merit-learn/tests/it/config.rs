//! The learner's part of a recipe: what is written, what is refused and why.

use merit_core::registry::{Chosen, Components, Kind};
use merit_learn::*;

fn parse(text: &str) -> Result<LearnConfig, String> {
    let components = register(Components::default());
    let config: LearnConfig =
        components.reading(|| toml::from_str(text)).map_err(|e: toml::de::Error| e.to_string())?;
    config.validate().map_err(|e| e.to_string())?;
    Ok(config)
}

fn check_refused(text: &str, message: &str) {
    let error = parse(text).unwrap_err();
    assert!(error.contains(message), "{error}");
}

#[test]
fn an_empty_table_is_the_default_recipe() {
    assert_eq!(parse("").unwrap(), LearnConfig::default());
}

#[test]
fn every_plug_point_can_be_named() {
    let config = parse(
        r#"
        epochs = 2
        minibatches = 4
        loss_agg = { type = "constant", length = 64 }
        selector = { type = "drop-constant-groups" }
        mask = { type = "drop-truncated" }
        optimiser = { type = "adamw", lr = 1e-3, clip_norm = 0.0 }
        schedule = { type = "cosine", warmup = 5, floor = 0.1 }
        [objective]
        type = "policy-gradient"
        clip_high = 0.3
        entropy = 0.01
        kl = { coefficient = 0.01, estimator = "k2" }
        value = { coefficient = 0.5, clip = 0.2 }
        "#,
    )
    .unwrap();
    let objective = PolicyGradient {
        clip_high: 0.3,
        entropy: 0.01,
        kl: Some(KlPenalty { coefficient: 0.01, estimator: Estimator::K2 }),
        value: Some(ValueLoss { coefficient: 0.5, clip: Some(0.2) }),
        ..PolicyGradient::default()
    };
    assert_eq!(config.objective, Chosen::<dyn Objective>::of(objective, |s| s));
    assert_eq!(config.schedule, Schedule::Cosine { warmup: 5, floor: 0.1 });
    assert_eq!(config.mask, Chosen::<dyn Mask>::of(DropTruncated {}, |s| s));
}

#[test]
fn a_config_survives_being_saved() {
    let pg = PolicyGradient {
        value: Some(ValueLoss { coefficient: 1.0, clip: None }),
        ..PolicyGradient::default()
    };
    let objectives: [Chosen<dyn Objective>; 3] =
        [Chosen::of(pg, |s| s), Chosen::of(Sft {}, |s| s), Chosen::of(Kto::default(), |s| s)];
    for objective in objectives {
        let config = LearnConfig { objective, ..LearnConfig::default() };
        assert_eq!(parse(&toml::to_string(&config).unwrap()).unwrap(), config);
    }
}

#[test]
fn unknown_keys_are_refused_at_every_level() {
    check_refused("epoch = 2", "epoch");
    check_refused(r#"objective = { type = "sft", clip_low = 0.1 }"#, "clip_low");
    check_refused(r#"objective = { type = "policy-gradient", cliplow = 0.1 }"#, "cliplow");
    check_refused(
        r#"objective = { type = "policy-gradient", kl = { coefficient = 1.0, kind = "k3" } }"#,
        "kind",
    );
    check_refused(r#"loss_agg = { type = "token", length = 3 }"#, "length");
    check_refused(r#"selector = { type = "all", versions = 3 }"#, "versions");
    check_refused(r#"mask = { type = "policy", turns = 3 }"#, "turns");
    check_refused(r#"optimiser = { type = "adamw", rate = 3 }"#, "rate");
    check_refused(r#"schedule = { type = "constant", floor = 0.5 }"#, "floor");
}

#[test]
fn settings_that_cannot_work_are_refused_with_the_reason() {
    check_refused("epochs = 0", "`epochs` is 0; go through the batch at least once");
    check_refused("minibatches = 0", "`minibatches` is 0");
    check_refused(r#"loss_agg = { type = "constant", length = 0 }"#, "`constant`: `length` is 0");
    check_refused(
        "objective = { type = \"dpo\" }\nloss_agg = { type = \"sequence\" }",
        "`loss_agg` is `sequence`, but objective `dpo` has no losses of tokens",
    );
    check_refused(r#"optimiser = { type = "adamw", lr = nan }"#, "`optimiser.lr` is NaN");
    check_refused(r#"optimiser = { type = "adamw", beta2 = 1.0 }"#, "`optimiser.beta2` is 1");
    check_refused(r#"schedule = { type = "cosine", floor = 2.0 }"#, "`schedule.floor` is 2");
    check_refused(r#"objective = { type = "policy-gradient", clip_low = 0.0 }"#, "`clip_low` is 0");
    check_refused(r#"objective = { type = "policy-gradient", clip_high = -1.0 }"#, "`clip_high` is -1");
    check_refused(r#"objective = { type = "policy-gradient", entropy = -0.1 }"#, "`entropy` is -0.1");
    check_refused(
        r#"objective = { type = "policy-gradient", kl = { coefficient = 0.0 } }"#,
        "leave `kl` out to have no penalty",
    );
    check_refused(
        r#"objective = { type = "policy-gradient", value = { coefficient = 1.0, clip = 0.0 } }"#,
        "`value.clip` is 0",
    );
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    check_refused(r#"objective = { type = "policy-grad" }"#, "did you mean `policy-gradient`?");
    check_refused(
        r#"loss_agg = { type = "tokens" }"#,
        "unknown loss aggregation `tokens` (did you mean `token`?)",
    );
}

#[test]
fn the_spellings_that_others_use_are_understood() {
    let ours =
        parse("loss_agg = { type = \"sequence\" }\noptimiser = { type = \"adamw\", lr = 1e-5 }").unwrap();
    for key in ["loss_aggregation", "normaliser"] {
        let text =
            format!("{key} = {{ type = \"sequence\" }}\noptimizer = {{ type = \"adamw\", lr = 1e-5 }}");
        assert_eq!(parse(&text).unwrap(), ours);
    }
    let text = "loss_agg = { type = \"sequence\" }\noptimiser = { type = \"adamw\", learning_rate = 1e-5 }";
    assert_eq!(parse(text).unwrap(), ours);
    check_refused(
        "optimiser = { type = \"adamw\", lr = 1e-5, learning_rate = 1e-5 }",
        "duplicate field `lr`",
    );
}

/// Every registered component reads its own example.
fn check_examples<T: Kind + ?Sized>() {
    let components = register(Components::default());
    assert!(!components.entries::<T>().is_empty());
    for entry in components.entries::<T>() {
        let example: toml::Table = toml::from_str(entry.example).unwrap();
        Chosen::read(entry, example).unwrap_or_else(|why| panic!("{}: {why}", entry.about.name));
    }
}

#[test]
fn every_component_reads_its_example() {
    check_examples::<dyn Objective>();
    check_examples::<dyn LossAgg>();
    check_examples::<dyn Selector>();
    check_examples::<dyn Mask>();
}
