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

/// Worlds and modes that no shipped recipe is played in: as the page names them, what is set, and what is paid.
const MODES: &[(&str, &str, &str)] = &[
    ("kbqa", "mode = \"mask\"", FILLED),
    ("kbqa", "label = \"search\"", EXACT),
    ("kbqa", "mode = \"answer\"", EXACT),
    ("places", "skin = \"house\"", SOLVED),
    ("rows", "", EXACT),
    ("synth", "kind = \"faster\"", SOLVED),
    ("tasks", "", EXACT),
    ("toolshelf", "mode = \"retrieve\"", EXACT),
    ("toolshelf", "mode = \"document\"", EXACT),
    ("travel", "api = \"live\"", SOLVED),
    ("sums", "kinds = { mod = 1.0 }", EXACT),
    ("sums", "kinds = { countdown = 1.0 }", RIGHT),
    ("vault", "", "{ type = 'solved-by', term = 'ended', of = { type = 'ended' } }"),
];
const EXACT: &str = "{ type = 'exact-answer' }";
const SOLVED: &str =
    "{ type = 'solved-by', term = 'solved', of = { type = 'info', key = 'solved', name = 'solved' } }";
const RIGHT: &str =
    "{ type = 'solved-by', term = 'right', of = { type = 'info', key = 'right', name = 'right' } }";
const FILLED: &str =
    "{ type = 'solved-by', term = 'filled', of = { type = 'info', key = 'filled', name = 'filled' } }";

/// A world by itself, with what a mode cannot do without.
fn alone(world: &str, settings: &str, reward: &str) -> merit_run::Recipe {
    let more = match settings {
        "label = \"search\"" => "fixed = 0.5",
        "mode = \"document\"" => "sizes = [1]",
        _ => "",
    };
    let text = format!(
        "name = \"alone\"\nrollout = {{ max_turns = 40 }}\nreward = {reward}\ncredit = {{ type = \"grpo\" }}\n\
         budget = {{ steps = 0, groups = 1, group_size = 2 }}\n[world]\ntype = \"{world}\"\n{settings}\n{more}\n"
    );
    merit_run::Recipe::parse("alone.toml", &text).unwrap()
}

/// The rows of the tables about what comes with merit: name and grade.
fn rows() -> Vec<(&'static str, &'static str)> {
    let page = include_str!("../../../../docs/audits.md");
    let (_, part) = page.split_once("## What comes with merit").unwrap();
    let (part, _) = part.split_once("\n## ").unwrap();
    let cells = |line: &'static str| {
        let (name, rest) = line.strip_prefix("| ")?.split_once(" | ")?;
        Some((name, rest.split(" | ").next()?))
    };
    part.lines().filter_map(cells).filter(|(_, grade)| grade.len() == 1).collect()
}

#[test]
fn every_mode_without_a_recipe_has_the_grade_that_the_page_tells() {
    let rows = rows();
    for (world, set, reward) in MODES {
        let is_its = |name: &str| match set.is_empty() {
            true => name == *world,
            false => name.starts_with(&format!("{world}: ")) && name.contains(&format!("`{set}`")),
        };
        let row = rows.iter().find(|(name, _)| is_its(name));
        let (_, grade) = row.unwrap_or_else(|| panic!("the page has no row for {world}, {set}"));
        let played = |tasks: u32| {
            let settings = Settings { tasks: tasks as usize, ..Settings::default() };
            let mut target = WorldTarget::new(&alone(world, set, reward), 1, tasks).unwrap();
            audit(&mut target, &settings).unwrap()
        };
        // Whoever plays by chance may be lucky in one of four tasks; in twenty it shows.
        let audit = Some(played(4)).filter(|audit| audit.grade.to_string() == *grade);
        let audit = audit.unwrap_or_else(|| played(20));
        assert_eq!(audit.grade.to_string(), *grade, "{world}, {set}:\n{}", audit.render());
    }
}

#[test]
fn the_page_has_a_row_for_every_reward_recipe_and_world_and_for_nothing_else() {
    let told: Vec<&str> = rows().iter().flat_map(|(name, _)| name.split(", ")).collect();
    let shipped: Vec<&str> = recipes().iter().map(|recipe| recipe.about.name).collect();
    let rewards = REWARDS.iter().map(|reward| reward.about.name);
    let missing: Vec<&str> =
        shipped.iter().copied().chain(rewards.clone()).filter(|name| !told.contains(name)).collect();
    assert!(missing.is_empty(), "the page has no row for {missing:?}");
    let mut known: Vec<String> = shipped.iter().copied().chain(rewards).map(str::to_owned).collect();
    known.extend(MODES.iter().map(|(world, ..)| (*world).to_owned()));
    let strange: Vec<&str> = told
        .iter()
        .copied()
        .filter(|name| !known.iter().any(|known| known == name || name.starts_with(&format!("{known}: "))))
        .filter(|name| !name.starts_with('`'))
        .collect();
    assert!(strange.is_empty(), "there is nothing called {strange:?}");
    let played: Vec<&str> = shipped.iter().map(|name| load(name).unwrap().world.about().name).collect();
    let audited = |world: &str| played.contains(&world) || MODES.iter().any(|(mode, ..)| *mode == world);
    let components = merit_run::built_in();
    let worlds =
        components.all().iter().filter(|listed| listed.kind == "world").map(|listed| listed.about.name);
    // Programs of somebody's own.
    let left: Vec<&str> =
        worlds.filter(|world| !audited(world) && !["command", "python"].contains(world)).collect();
    assert!(left.is_empty(), "nobody audits {left:?}");
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
