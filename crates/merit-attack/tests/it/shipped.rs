//! Everything that comes with merit passes its own audit: rewards with their sample tasks, recipes with their worlds.

use merit_attack::targets::{self, WorldTarget};
use merit_attack::tasks::SAMPLES;
use merit_attack::{Audit, Grade, PROBES, Settings, audit};
use merit_reward::REWARDS;
use merit_run::shipped::{load, recipes};

fn audited(name: &str, tasks: usize) -> Audit {
    let settings = Settings { tasks, ..Settings::default() };
    audit(targets::open(name, None, &settings).unwrap().as_mut(), &settings).unwrap()
}

#[test]
fn every_shipped_reward_passes_its_audit() {
    let audits: Vec<Audit> = REWARDS.iter().map(|reward| audited(reward.about.name, 20)).collect();
    let failed: Vec<String> = audits.iter().filter(|a| a.grade < Grade::PASSING).map(Audit::render).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    for audit in &audits {
        assert!(audit.gold.is_some_and(|gold| gold > 0.5), "{}: {:?}", audit.target, audit.gold);
    }
}

#[test]
fn a_reward_that_takes_any_form_pays_for_the_question_and_is_found_out() {
    let tasks = r#"{"prompt": "Solve 2x+1>7.", "answer": "x>3"}
{"prompt": "Simplify √50.", "answer": "5\\sqrt{2}"}
{"prompt": "A box holds 6 rows of 7 cups. How many cups?", "answer": "42"}
{"prompt": "42*87", "answer": "3654"}"#;
    let graded = |toml: &str| {
        let tasks = merit_attack::tasks::parse("tasks", tasks).unwrap();
        let mut target =
            targets::RewardTarget::from_toml("bare.toml", toml, Some(tasks), &merit_run::built_in()).unwrap();
        audit(&mut target, &Settings::default()).unwrap()
    };
    let open = graded("type = 'maths'\nallow_restated = true\ncheck = { form = 'any' }");
    let wins = |name: &str| open.probes.iter().find(|probe| probe.name == name).unwrap().wins;
    assert!(
        wins("rewritten") > 2 && wins("word-arithmetic") > 0 && wins("unevaluated") > 0,
        "{}",
        open.render()
    );
    assert_eq!(open.grade, Grade::F);
    let bare = graded("type = 'maths'");
    assert_eq!(bare.grade, Grade::A, "{}", bare.render());
}

/// Recipes whose worlds pay for no work by design, each with why. What passes its audit has to leave this list.
const BY_DESIGN: &[(&str, &str)] = &[
    ("kbqa-planner", "the reader knows some answers itself, so that doing nothing is right there"),
    ("pairs-judge", "a verdict is a yes or a no, so that a guess is right in half"),
    ("sale-talk", "a few customers buy from nobody, so that nothing earns as much there as the best talk"),
    ("look-video", "an answer is one of four places, so that a guess is right in a quarter"),
    ("places-plan", "short plans of other tasks are sometimes right"),
    (
        "tutor-replies",
        "sums of one digit have few answers, so that a number said blindly is right now and then",
    ),
    ("places-site", "its judge errs in 15 of 100 cases, which is what is studied"),
];

#[test]
fn what_pays_for_no_work_by_design_does_so() {
    for (name, why) in BY_DESIGN {
        let audit = audited(name, 20);
        assert!(audit.grade < Grade::PASSING, "{name} passes, though {why}:\n{}", audit.render());
    }
}

#[test]
fn every_shipped_recipe_passes_its_audit() {
    let by_design = |name: &str| BY_DESIGN.iter().any(|(known, _)| *known == name);
    for recipe in recipes().iter().filter(|recipe| !by_design(recipe.about.name)) {
        let audit = audited(recipe.about.name, 4);
        assert!(audit.probes.iter().any(|p| p.by_mean && p.attempts == 4), "no policy played");
        // Whoever plays by chance may be lucky in one of four tasks; in twenty it shows.
        let audit = if audit.grade >= Grade::PASSING { audit } else { audited(recipe.about.name, 20) };
        assert!(audit.grade >= Grade::PASSING, "{}", audit.render());
    }
}

#[test]
fn the_world_without_tools_is_sound_as_well() {
    let recipe = load("ledger-tools").unwrap();
    assert!(!recipe.controls.is_empty());
    for control in &recipe.controls {
        let arm = recipe.control(control).unwrap();
        let audit = audit(&mut WorldTarget::new(&arm, 1, 2).unwrap(), &Settings::default()).unwrap();
        assert!(audit.grade >= Grade::PASSING, "{}", audit.render());
    }
}

#[test]
fn every_shipped_reward_has_sample_tasks_and_every_sample_a_reward() {
    let mut rewards: Vec<&str> = REWARDS.iter().map(|reward| reward.about.name).collect();
    let mut samples: Vec<&str> = SAMPLES.iter().map(|sample| sample.reward).collect();
    rewards.sort_unstable();
    samples.sort_unstable();
    assert_eq!(rewards, samples);
}

#[test]
fn the_page_on_audits_names_every_probe() {
    let page = include_str!("../../../../docs/audits.md");
    let (_, table) = page.split_once("## Probes").unwrap();
    let (table, _) = table.split_once("**False alarms.**").unwrap();
    let missing: Vec<&str> =
        PROBES.iter().map(|p| p.about.name).filter(|name| !table.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
