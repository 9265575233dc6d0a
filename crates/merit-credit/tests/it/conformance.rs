//! Every registered rule conforms, and the checker catches rules that do not.

use merit_core::{Chosen, Components, Group};
use merit_credit::conformance::check_rule;
use merit_credit::rules::{
    BranchMonteCarlo, ChecklistStep, Gae, GroupWhitened, Grpo, ReinforcePlusPlus, TreeMonteCarlo, TurnGroups,
    TwoLevel,
};
use merit_credit::{
    Credit, CreditBatch, CreditError, CreditRule, Differs, Grain, Needs, Properties, RULES, ZeroSum,
};
use std::sync::atomic::{AtomicU32, Ordering};

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
}

#[test]
fn every_registered_rule_conforms_with_other_settings_too() {
    for toml in [
        "type = 'gae'\ngamma = 0.9\nlambda = 0.8\nwhiten = false",
        "type = 'grpo'\nscale_by_std = false",
        "type = 'turn-groups'\nscale_by_std = false\nmin_rows = 2",
        "type = 'keyed-groups'\nscale_by_std = true\nmin_rows = 4",
        "type = 'checklist-step'\nscale_by_std = true",
        "type = 'two-level'\nscale_by_std = false",
        "type = 'two-level'\neta = 0.0",
        "type = 'two-level'\nannotation = 'progress'",
        "type = 'tree-monte-carlo'\npart = 'local'\nreference = 1",
        "type = 'tree-monte-carlo'\npart = 'global'",
    ] {
        assert_eq!(check_rule(&*read(toml).unwrap()), Vec::<String>::new(), "{toml}");
    }
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
    for toml in [
        "type = 'keyed-groups'\nkey = 'round'",
        "type = 'checklist-step'\nitems = ['found', 'told']",
        "type = 'two-level'\nannotation = 'progress'",
    ] {
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
        ("type = 'two-level'\nannotation = ''", "`annotation` is empty; give the name of an annotation"),
        ("type = 'keyed-groups'\nkey = ''", "`key` is empty; give the name of an info"),
        ("type = 'keyed-groups'\nmin_rows = 1", "`min_rows` is 1; it must be at least 2"),
        ("type = 'checklist-step'\nitems = ['a', 'b', 'a']", "`items` has `a` twice"),
    ] {
        let error = read(toml).unwrap_err();
        assert!(error.contains(want), "{toml}: {error}");
    }
}

/// Takes the credit of a good rule and spoils it.
struct Spoiled {
    good: Box<dyn CreditRule>,
    says: Properties,
    spoil: Spoil,
}

type Spoil = fn(&mut Credit, &[Group]);

impl CreditRule for Spoiled {
    fn properties(&self) -> Properties {
        self.says
    }

    fn needs(&self) -> Needs {
        self.good.needs()
    }

    fn trains_left(&self) -> bool {
        self.good.trains_left()
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let mut credit = self.good.assign(batch)?;
        (self.spoil)(&mut credit, batch.groups);
        Ok(credit)
    }
}

/// What the checker says of a rule whose credit is spoiled, and which says of itself what the good one says, or this.
fn said(good: impl CreditRule + 'static, says: Option<Properties>, spoil: Spoil) -> Vec<String> {
    let says = says.unwrap_or_else(|| good.properties());
    check_rule(&Spoiled { good: Box::new(good), says, spoil })
}

#[track_caller]
fn caught(wants: &[&str], found: &[String]) {
    for want in wants {
        assert!(found.iter().any(|violation| violation.contains(want)), "{want}: {found:?}");
    }
}

fn honest(_: &mut Credit, _: &[Group]) {}

/// Changes the advantages of the trained tokens by place of the sample, group and turn.
fn change(credit: &mut Credit, by: impl Fn(usize, usize, usize, f32) -> f32) {
    for (at, sample) in credit.samples.iter_mut().enumerate() {
        let Some(advantages) = sample.advantages.as_mut() else { continue };
        for (turn, range) in sample.turns.iter().enumerate() {
            for token in range.clone().filter(|&token| sample.mask[token]) {
                advantages[token] = by(at, sample.group, turn, advantages[token]);
            }
        }
    }
}

fn shift(credit: &mut Credit, _: &[Group]) {
    change(credit, |_, _, _, advantage| advantage + 0.5);
}

fn silence(credit: &mut Credit, _: &[Group]) {
    change(credit, |_, _, _, _| 0.0);
}

/// What a turn got reaches the turn before it too.
fn flow_back(credit: &mut Credit, _: &[Group]) {
    let first = |range: &std::ops::Range<usize>, all: &[f32]| all.get(range.start).copied().unwrap_or(0.0);
    let later: Vec<Vec<f32>> = credit
        .samples
        .iter()
        .map(|sample| {
            let all = sample.advantages.as_deref().unwrap_or(&[]);
            sample.turns.iter().skip(1).map(|range| first(range, all)).chain([0.0]).collect()
        })
        .collect();
    change(credit, |at, _, turn, advantage| advantage + later[at][turn]);
}

#[test]
fn the_checker_catches_what_must_not_be_of_any_rule() {
    let cases: [(&str, Spoil); 14] = [
        ("several advantages within one episode", |credit, _| {
            for sample in &mut credit.samples {
                let last = sample.mask.iter().rposition(|&m| m);
                last.into_iter().for_each(|at| sample.advantages.as_mut().unwrap()[at] += 0.25);
            }
        }),
        ("no advantages", |credit, _| credit.samples[0].advantages = None),
        ("samples for", |credit, _| drop(credit.samples.pop())),
        ("is of episode", |credit, _| credit.samples[0].episode.member += 90),
        ("returns of another length", |credit, _| credit.samples[0].returns = Some(Vec::new())),
        ("is not explained", |credit, _| drop(credit.notes.pop())),
        ("is not explained", |credit, _| credit.notes[0].lines.clear()),
        ("credit that is not finite", |credit, _| change(credit, |_, _, _, _| f32::NAN)),
        ("credit outside the mask", |credit, _| {
            credit.samples.iter_mut().for_each(|s| s.advantages.as_mut().unwrap()[0] = 1.0);
        }),
        ("trains tokens that are not its own", |credit, _| {
            for sample in &mut credit.samples {
                sample.turns.clone().into_iter().flatten().for_each(|at| sample.mask[at] = true);
            }
        }),
        ("the advantages of group", shift),
        ("moved the credit of their siblings", |credit, groups| {
            let left_out: Vec<f32> =
                groups.iter().map(|g| (g.members().len() - g.rewards().len()) as f32).collect();
            change(credit, |_, group, _, advantage| advantage + left_out[group]);
        }),
        ("permuting the group changed", |credit, _| {
            change(credit, |at, _, _, advantage| advantage + if at % 2 == 0 { 1.0 } else { -1.0 });
        }),
        ("two different credits", |credit, _| {
            static TIMES: AtomicU32 = AtomicU32::new(0);
            let times = TIMES.fetch_add(1, Ordering::Relaxed) as f32;
            change(credit, |_, _, _, advantage| advantage * times);
        }),
    ];
    for (want, spoil) in cases {
        caught(&[want], &said(Grpo::default(), None, spoil));
    }
}

#[test]
fn the_checker_catches_credit_of_another_grain_or_sum() {
    let found = said(TurnGroups::default(), None, |credit, _| {
        for sample in &mut credit.samples {
            for range in
                sample.turns.clone().into_iter().filter(|range| sample.mask[range.clone()].contains(&true))
            {
                sample.advantages.as_mut().unwrap()[range.start] += 0.25;
            }
        }
    });
    caught(&["several advantages within one turn"], &found);
    caught(&["the advantages of the batch sum to"], &said(ReinforcePlusPlus::default(), None, shift));
    caught(&["the advantages of the batch sum to"], &said(GroupWhitened::default(), None, shift));
    let turns = ["the advantages of turn 1 sum to", "sum to 3 among members of several lengths"];
    caught(&turns, &said(TurnGroups::default(), None, shift));
    caught(&["the turns of the group sum to"], &said(TwoLevel::default(), None, shift));
}

#[test]
fn the_checker_catches_pay_that_does_not_stay_at_its_turn() {
    let wants = [
        "where only what turns are paid differ, members got different advantages at turns where nothing differs",
        "a turn at which all members earn the same got credit that is not 0",
    ];
    caught(&wants, &said(TurnGroups::default(), None, flow_back));
    let graded = || TwoLevel { annotation: Some("progress".to_owned()), ..TwoLevel::default() };
    caught(&["where only what annotations say of turns differ, members"], &said(graded(), None, flow_back));
    // It is no violation where a rule does not say that pay stays.
    let says = Properties { pay_stays: false, zero_sum: ZeroSum::Nothing, ..Properties::by_turn() };
    assert_eq!(said(TurnGroups::default(), Some(says), flow_back), Vec::<String>::new());
}

#[test]
fn the_checker_catches_credit_where_there_is_nothing_to_compare() {
    let spoil: Spoil = |credit, _| {
        if credit.report.constant_groups == credit.report.groups {
            shift(credit, &[]);
        }
    };
    let wants = [
        "a constant group got",
        "a lone group got",
        "a constant long group got",
        "a constant tree group got",
    ];
    caught(&wants, &said(Grpo::default(), None, spoil));
    caught(&wants, &said(TurnGroups::default(), None, spoil));
    caught(&wants, &said(TreeMonteCarlo::default(), None, spoil));
    let uncounted: Spoil = |credit, _| credit.report.constant_groups = 0;
    caught(&["a constant group is not counted as constant"], &said(Grpo::default(), None, uncounted));
}

#[test]
fn the_checker_catches_a_rule_of_any_kind_that_writes_0_everywhere() {
    let graded = TwoLevel { annotation: Some("progress".to_owned()), ..TwoLevel::default() };
    let whiteless = Gae { whiten: false, ..Gae::default() };
    let silent: [(&str, Vec<String>); 9] = [
        ("rewards at the end", said(Grpo::default(), None, silence)),
        ("rewards at the end", said(ReinforcePlusPlus::default(), None, silence)),
        ("what turns are paid", said(TurnGroups::default(), None, silence)),
        ("what turns are paid", said(TwoLevel::default(), None, silence)),
        ("what terms say of turns", said(ChecklistStep::default(), None, silence)),
        ("what annotations say of turns", said(graded, None, silence)),
        ("what branches of a tree earn", said(TreeMonteCarlo::default(), None, silence)),
        ("the values of a value head", said(whiteless, None, silence)),
        ("what continuations earn", said(BranchMonteCarlo::default(), None, silence)),
    ];
    for (what, found) in silent {
        caught(&[&format!("where only {what} differ, it writes 0 everywhere")], &found);
    }
}

#[test]
fn the_checker_catches_a_rule_that_says_too_little_or_too_much_of_itself() {
    let nothing = Properties { learns_from: &[], ..Properties::by_episode() };
    caught(&["there is nothing it learns from"], &said(Grpo::default(), Some(nothing), honest));
    for differs in [&[Differs::Values], &[Differs::Continuations], &[Differs::TurnAnnotations]] {
        let unneeded = Properties { learns_from: differs, ..Properties::by_episode() };
        caught(&["does not say that it needs them"], &said(Grpo::default(), Some(unneeded), honest));
    }
}

#[test]
fn the_checker_catches_a_rule_that_does_not_see_the_tree() {
    let tree = Properties {
        grain: Grain::Turn,
        zero_sum: ZeroSum::Nothing,
        pay_stays: false,
        learns_from: &[Differs::Branches],
        ..Properties::by_turn()
    };
    // Whole episodes against each other: a shared turn gets what its first branch earned.
    let want = "the advantage of turn 0, which branches share, depends on which of them earned what";
    caught(&[want], &said(Grpo::default(), Some(tree), honest));
    // Every branch is judged as its trunk is.
    let as_the_trunk: Spoil = |credit, groups| {
        let trunk = |group: usize| groups[..group].iter().map(|group| group.members().len()).sum::<usize>();
        let first = credit.samples.clone();
        change(credit, |_, group, turn, _| {
            let (sample, all) =
                (&first[trunk(group)], first[trunk(group)].advantages.as_deref().unwrap_or(&[]));
            sample.turns.get(turn).and_then(|range| all.get(range.start)).copied().unwrap_or(0.0)
        });
    };
    caught(&["got the same advantage where they part"], &said(TreeMonteCarlo::default(), None, as_the_trunk));
}
