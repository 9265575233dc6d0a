//! Every registered rule conforms, and the checker catches rules that do not.

use merit_core::{About, Group};
use merit_credit::conformance::check_rule;
use merit_credit::{Baseline, Credit, CreditConfig, CreditError, GaeConfig, RULES, Rule};

#[test]
fn every_registered_rule_conforms() {
    for entry in RULES {
        let rule = (entry.default)().rule().unwrap();
        assert_eq!(rule.about(), entry.about);
        assert_eq!(check_rule(rule.as_ref()), Vec::<String>::new(), "{}", entry.about.name);
    }
    let bare = CreditConfig::Gae(GaeConfig { gamma: 0.9, lambda: 0.8, whiten: false });
    assert_eq!(check_rule(bare.rule().unwrap().as_ref()), Vec::<String>::new());
}

#[test]
fn every_example_is_the_default_and_survives_saving() {
    for entry in RULES {
        let config: CreditConfig = toml::from_str(entry.example).unwrap();
        assert_eq!(config, (entry.default)(), "{}", entry.about.name);
        assert_eq!(toml::from_str::<CreditConfig>(&toml::to_string(&config).unwrap()).unwrap(), config);
        let bare: CreditConfig = toml::from_str(&format!("type = '{}'", entry.about.name)).unwrap();
        assert_eq!(bare, config);
    }
}

#[test]
fn unknown_keys_and_rules_are_refused() {
    for (toml, want) in [
        ("type = 'grpo'\nscale = true", "unknown field `scale`"),
        ("type = 'dr-grpo'\nscale_by_std = true", "unknown field `scale_by_std`"),
        ("type = 'grop'", "unknown variant `grop`"),
    ] {
        let error = toml::from_str::<CreditConfig>(toml).unwrap_err().to_string();
        assert!(error.contains(want), "{toml}: {error}");
    }
}

/// Takes good credit and spoils it.
struct Spoiled(Spoil);

type Spoil = fn(&mut Credit, &[Group]);

impl Rule for Spoiled {
    fn about(&self) -> About {
        About { name: "spoiled", summary: "", paper: "" }
    }

    fn baseline(&self) -> Baseline {
        Baseline::Group
    }

    fn assign(&self, groups: &[Group]) -> Result<Credit, CreditError> {
        let mut credit = CreditConfig::Grpo(Default::default()).rule()?.assign(groups)?;
        (self.0)(&mut credit, groups);
        Ok(credit)
    }
}

fn shift(credit: &mut Credit, by: impl Fn(usize) -> f32) {
    for sample in &mut credit.samples {
        let by = by(sample.group);
        let advantages = sample.advantages.as_mut().unwrap();
        advantages.iter_mut().zip(&sample.mask).filter(|(_, m)| **m).for_each(|(a, _)| *a += by);
    }
}

#[test]
fn the_checker_catches_what_must_not_be() {
    let cases: [(&str, Spoil); 6] = [
        ("no advantages", |credit, _| credit.samples[0].advantages = None),
        ("samples for", |credit, _| drop(credit.samples.pop())),
        ("credit outside the mask", |credit, _| {
            credit.samples.iter_mut().for_each(|s| s.advantages.as_mut().unwrap()[0] = 1.0);
        }),
        ("sum to", |credit, _| shift(credit, |_| 0.5)),
        ("moved the credit of their siblings", |credit, groups| {
            let left_out: Vec<f32> =
                groups.iter().map(|g| (g.members().len() - g.rewards().len()) as f32).collect();
            shift(credit, |group| left_out[group]);
        }),
        ("permuting the group changed", |credit, _| {
            for (at, sample) in credit.samples.iter_mut().enumerate() {
                let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
                let advantages = sample.advantages.as_mut().unwrap();
                advantages.iter_mut().zip(&sample.mask).filter(|(_, m)| **m).for_each(|(a, _)| *a += sign);
            }
        }),
    ];
    for (want, spoil) in cases {
        let found = check_rule(&Spoiled(spoil));
        assert!(found.iter().any(|v| v.contains(want)), "{want}: {found:?}");
    }
}
