//! The learner's part of a recipe: what is written, what is refused and why.

use merit_core::About;
use merit_learn::*;

fn parse(text: &str) -> Result<LearnConfig, String> {
    let config: LearnConfig = toml::from_str(text).map_err(|e| e.to_string())?;
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
        normaliser = { type = "constant", length = 64 }
        selector = { type = "drop-stale", versions = 2 }
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
    let Objective::PolicyGradient(pg) = &config.objective else { panic!("{config:?}") };
    assert_eq!((pg.clip_low, pg.clip_high), (0.2, 0.3));
    assert_eq!(pg.kl, Some(KlPenalty { coefficient: 0.01, estimator: Estimator::K2 }));
    assert_eq!(config.schedule, Schedule::Cosine { warmup: 5, floor: 0.1 });
    assert_eq!(config.mask, Mask::DropTruncated {});
}

#[test]
fn a_config_survives_being_saved() {
    let pg = PolicyGradient {
        value: Some(ValueLoss { coefficient: 1.0, clip: None }),
        ..PolicyGradient::default()
    };
    for objective in [Objective::PolicyGradient(pg), Objective::Sft {}] {
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
    check_refused(r#"normaliser = { type = "token", length = 3 }"#, "length");
    check_refused(r#"selector = { type = "all", versions = 3 }"#, "versions");
    check_refused(r#"mask = { type = "policy", turns = 3 }"#, "turns");
    check_refused(r#"optimiser = { type = "adamw", rate = 3 }"#, "rate");
    check_refused(r#"schedule = { type = "constant", floor = 0.5 }"#, "floor");
}

#[test]
fn settings_that_cannot_work_are_refused_with_the_reason() {
    check_refused("epochs = 0", "`epochs` is 0; go through the batch at least once");
    check_refused("minibatches = 0", "`minibatches` is 0");
    check_refused(r#"normaliser = { type = "constant", length = 0 }"#, "`normaliser.length` is 0");
    check_refused(r#"optimiser = { type = "adamw", lr = nan }"#, "`optimiser.lr` is NaN");
    check_refused(r#"optimiser = { type = "adamw", beta2 = 1.0 }"#, "`optimiser.beta2` is 1");
    check_refused(r#"schedule = { type = "cosine", floor = 2.0 }"#, "`schedule.floor` is 2");
    check_refused(r#"objective = { type = "policy-gradient", clip_low = 0.0 }"#, "`objective.clip_low` is 0");
    check_refused(
        r#"objective = { type = "policy-gradient", clip_high = -1.0 }"#,
        "`objective.clip_high` is -1",
    );
    check_refused(
        r#"objective = { type = "policy-gradient", entropy = -0.1 }"#,
        "`objective.entropy` is -0.1",
    );
    check_refused(
        r#"objective = { type = "policy-gradient", kl = { coefficient = 0.0 } }"#,
        "leave `kl` out to have no penalty",
    );
    check_refused(
        r#"objective = { type = "policy-gradient", value = { coefficient = 1.0, clip = 0.0 } }"#,
        "`objective.value.clip` is 0",
    );
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    check_refused(r#"objective = { type = "ppo" }"#, "policy-gradient");
    check_refused(r#"normaliser = { type = "tokens" }"#, "sequence");
}

/// Every registered name is one that recipes understand, and says the same of itself there.
fn check_registry<T: serde::de::DeserializeOwned>(list: &[About], about: impl Fn(&T) -> About) {
    for entry in list {
        let full = serde_json::json!({ "type": entry.name, "length": 8, "versions": 1 });
        let bare = serde_json::json!({ "type": entry.name });
        let one = |key: &str| serde_json::json!({ "type": entry.name, key: full[key] });
        let parsed = [bare, one("length"), one("versions")]
            .into_iter()
            .find_map(|v| serde_json::from_value::<T>(v).ok());
        assert_eq!(&about(&parsed.unwrap_or_else(|| panic!("`{}` is not understood", entry.name))), entry);
    }
}

#[test]
fn the_registries_and_the_recipes_speak_of_the_same_components() {
    check_registry(OBJECTIVES, Objective::about);
    check_registry(NORMALISERS, Normaliser::about);
    check_registry(SELECTORS, Selector::about);
    check_registry(MASKS, Mask::about);
}
