//! Everything that comes with merit passes its own audit: rewards with their sample tasks, recipes with their worlds.

use merit_attack::targets::{self, WorldTarget};
use merit_attack::tasks::SAMPLES;
use merit_attack::{Audit, Grade, PROBES, Settings, audit};
use merit_reward::REWARDS;
use merit_run::shipped::{load, recipes};
use merit_testing::root;
use serde::{Deserialize, Serialize};

/// What an audit came to, as far as the page tells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Came {
    tasks: usize,
    grade: String,
    /// The best mean of whoever plays without looking, as a share of what the right play earns, to a thousandth. Absent:
    /// nobody plays a reward by itself.
    unseeing: Option<f64>,
}

/// A line of `benchmarks/raw/audits-shipped.jsonl`. The suite makes the audit of few tasks again; the one of many is made
/// with it when the file is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Line {
    target: String,
    few: Came,
    many: Came,
}

const FEW: usize = 4;
const MANY: usize = 20;

/// The target's audit, and what it came to.
fn came(target: &str, tasks: usize) -> (Audit, Came) {
    let settings = Settings { tasks, ..Settings::default() };
    let audit = match MODES.iter().find(|(world, set, _)| mode_name(world, set) == target) {
        Some((world, set, reward)) => {
            let recipe = alone(world, set, reward);
            audit(&mut WorldTarget::new(&recipe, 1, tasks as u32).unwrap(), &settings)
        }
        None => audit(targets::open(target, None, &settings).unwrap().as_mut(), &settings),
    };
    let audit = audit.unwrap();
    let shares = audit.probes.iter().filter(|probe| probe.by_mean).filter_map(|probe| probe.mean_share);
    let unseeing = shares.map(|share| (share.max(0.0) * 1000.0).round() / 1000.0).reduce(f64::max);
    let came = Came { tasks: audit.tasks, grade: audit.grade.to_string(), unseeing };
    (audit, came)
}

/// Everything that is audited: rewards, recipes, worlds by themselves.
fn targets() -> Vec<String> {
    let rewards = REWARDS.iter().map(|reward| reward.about.name.to_owned());
    let recipes = recipes().iter().map(|recipe| recipe.about.name.to_owned());
    rewards.chain(recipes).chain(MODES.iter().map(|(world, set, _)| mode_name(world, set))).collect()
}

fn recorded() -> Vec<Line> {
    let text = std::fs::read_to_string(root().join(RECORD)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const RECORD: &str = "benchmarks/raw/audits-shipped.jsonl";

#[test]
fn every_audit_of_what_comes_with_merit_is_as_recorded() {
    let update = std::env::var_os("MERIT_UPDATE").is_some();
    let known = if update { Vec::new() } else { recorded() };
    let mut written = String::new();
    for target in targets() {
        let (audit, few) = came(&target, FEW);
        let enough = if REWARDS.iter().any(|reward| reward.about.name == target) {
            audit.gold.is_some_and(|gold| gold > 0.5)
        } else {
            audit.probes.iter().any(|probe| probe.by_mean && probe.attempts == few.tasks)
        };
        assert!(enough, "the right answer is not paid, or nobody plays:\n{}", audit.render());
        if update {
            let line = Line { many: came(&target, MANY).1, few, target };
            written.push_str(&format!("{}\n", serde_json::to_string(&line).unwrap()));
            continue;
        }
        let line = known.iter().find(|line| line.target == target);
        assert_eq!(
            line.map(|line| &line.few),
            Some(&few),
            "{target}: `MERIT_UPDATE=1 cargo test -p merit-attack` records it anew\n{}",
            audit.render()
        );
    }
    if update {
        std::fs::write(root().join(RECORD), written).unwrap();
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
fn what_comes_with_merit_passes_but_for_what_pays_by_design_and_the_page_tells_the_record() {
    let lines = recorded();
    let mut targets = targets();
    targets.sort_unstable();
    let mut known: Vec<&str> = lines.iter().map(|line| line.target.as_str()).collect();
    known.sort_unstable();
    assert_eq!(known, targets, "one line each");
    let one = |target: &str| &lines.iter().find(|line| line.target == target).unwrap().many;
    let passing = [Grade::A, Grade::B].map(|grade| grade.to_string());
    let alone: Vec<String> = MODES.iter().map(|(world, set, _)| mode_name(world, set)).collect();
    for target in targets.iter().filter(|target| !alone.contains(target)) {
        let by_design = BY_DESIGN.iter().any(|(name, _)| name == target);
        assert_eq!(passing.contains(&one(target).grade), !by_design, "{target}");
    }
    for (names, grade, told) in rows() {
        let targets = named(names);
        let wrong: Vec<&String> = targets.iter().filter(|target| one(target).grade != grade).collect();
        assert!(wrong.is_empty(), "the page has another grade than {grade} for {wrong:?}");
        let percent = |target: &String| {
            one(target).unseeing.map(|share| format!("{}%", (share * 100.0 + 1e-6).round()))
        };
        let told: Vec<&str> =
            told.split(':').next().unwrap().split([' ', ',', '|']).filter(|w| w.ends_with('%')).collect();
        let shares: Vec<String> = targets.iter().filter_map(percent).collect();
        let right = match told.len() == shares.len() {
            true => told == shares,
            // One number for a row is its highest.
            false => told.as_slice() == highest(&shares).as_slice(),
        };
        assert!(right, "the page tells {told:?} of {targets:?}, the record {shares:?}");
    }
}

/// The highest of numbers that are written as per cent, if there is one.
fn highest(shares: &[String]) -> Option<&str> {
    shares.iter().map(String::as_str).max_by_key(|share| share.trim_end_matches('%').parse::<u32>().unwrap())
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

/// A world by itself, as the record and the page name it.
fn mode_name(world: &str, set: &str) -> String {
    if set.is_empty() { world.to_owned() } else { format!("{world}: {set}") }
}

/// The rows of the tables about what comes with merit: names, grade, and what is told beside it.
fn rows() -> Vec<(&'static str, &'static str, &'static str)> {
    let page = include_str!("../../../../docs/audits.md");
    let (_, part) = page.split_once("## What comes with merit").unwrap();
    let (part, _) = part.split_once("\n## ").unwrap();
    let cells = |line: &'static str| {
        let (name, rest) = line.strip_prefix("| ")?.split_once(" | ")?;
        let (grade, told) = rest.split_once(" | ")?;
        Some((name, grade, told))
    };
    part.lines().filter_map(cells).filter(|(_, grade, _)| grade.len() == 1).collect()
}

/// The targets of a row: several recipes, or a world with its modes in backquotes.
fn named(names: &str) -> Vec<String> {
    match names.split_once(": ") {
        Some((world, modes)) => {
            modes.split("; ").map(|set| mode_name(world, set.trim_matches('`'))).collect()
        }
        None => names.split(", ").map(str::to_owned).collect(),
    }
}

#[test]
fn the_page_has_a_row_for_every_reward_recipe_and_world_and_for_nothing_else() {
    let mut told: Vec<String> = rows().iter().flat_map(|(names, ..)| named(names)).collect();
    let mut audited = targets();
    told.sort_unstable();
    audited.sort_unstable();
    assert_eq!(told, audited);
    let shipped: Vec<&str> = recipes().iter().map(|recipe| recipe.about.name).collect();
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
