//! Every registered rule conforms, and the checker catches rules that do not.

use merit_core::{Chosen, Components, Group};
use merit_credit::conformance::check_rule;
use merit_credit::rules::{Gae, Grpo};
use merit_credit::{Baseline, Credit, CreditBatch, CreditError, CreditRule, RULES};

fn read(text: &str) -> Result<Chosen<dyn CreditRule>, String> {
    let components = merit_credit::register(Components::default());
    components.reading(|| toml::from_str(text)).map_err(|error: toml::de::Error| error.message().to_owned())
}

#[test]
fn every_registered_rule_conforms() {
    for entry in RULES {
        let rule = read(&format!("type = '{}'", entry.about.name)).unwrap();
        assert_eq!(check_rule(&*rule), Vec::<String>::new(), "{}", entry.about.name);
    }
    let bare = Gae { gamma: 0.9, lambda: 0.8, whiten: false };
    assert_eq!(check_rule(&bare), Vec::<String>::new());
}

#[test]
fn every_example_is_the_default_and_survives_saving() {
    for entry in RULES {
        let name = entry.about.name;
        let rule = read(&format!("type = '{name}'\n{}", entry.example)).unwrap();
        assert_eq!(rule, read(&format!("type = '{name}'")).unwrap());
        assert_eq!(read(&toml::to_string(&rule).unwrap()).unwrap(), rule);
    }
}

#[test]
fn what_has_no_default_survives_saving_too() {
    for toml in ["type = 'keyed-groups'\nkey = 'round'", "type = 'checklist-step'\nitems = ['found', 'told']"]
    {
        let rule = read(toml).unwrap();
        assert_eq!(read(&toml::to_string(&rule).unwrap()).unwrap(), rule);
    }
}

#[test]
fn unknown_keys_and_rules_are_refused() {
    for (toml, want) in [
        ("type = 'grpo'\nscale = true", "unknown field `scale`"),
        ("type = 'dr-grpo'\nscale_by_std = true", "unknown field `scale_by_std`"),
        ("type = 'grop'", "unknown credit rule `grop` (did you mean `grpo`?)"),
        ("type = 'gae'\ngamma = 2.0", "`gae`: `gamma` is 2; it must be between 0 and 1"),
        ("type = 'two-level'\neta = -1.0", "`two-level`: `eta` is -1; it must be 0 or above"),
        ("type = 'keyed-groups'\nkey = ''", "`key` is empty; give the name of an info"),
        ("type = 'keyed-groups'\nmin_rows = 1", "`min_rows` is 1; it must be at least 2"),
        ("type = 'checklist-step'\nitems = ['a', 'b', 'a']", "`items` has `a` twice"),
    ] {
        let error = read(toml).unwrap_err();
        assert!(error.contains(want), "{toml}: {error}");
    }
}

/// Takes good credit and spoils it.
struct Spoiled(Spoil);

type Spoil = fn(&mut Credit, &[Group]);

impl CreditRule for Spoiled {
    fn baseline(&self) -> Baseline {
        Baseline::Group
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let mut credit = Grpo::default().assign(batch)?;
        (self.0)(&mut credit, batch.groups);
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
    let cases: [(&str, Spoil); 7] = [
        ("several advantages within one episode", |credit, _| {
            for sample in &mut credit.samples {
                let last = sample.mask.iter().rposition(|&m| m);
                last.into_iter().for_each(|at| sample.advantages.as_mut().unwrap()[at] += 0.25);
            }
        }),
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
