//! Cells are run once, kept, and the same whoever runs them.

use merit_lab::{
    CellEvent, CellRunner, Grid, GridOptions, LabError, Look, OpenCell, System, SystemResult, judge, load,
    system_page,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn options(folder: &Path, workers: usize) -> GridOptions {
    GridOptions {
        folder: folder.to_owned(),
        workers,
        smoke: true,
        premise: false,
        extended: false,
        seeds: Some(vec![101, 102]),
        arms: Vec::new(),
        keep: false,
        only: None,
        replay_lost: false,
        runner: None,
        stop: Arc::new(AtomicBool::new(false)),
    }
}

#[test]
fn finished_cells_are_not_run_again_and_numbers_do_not_depend_on_who_runs_them() {
    let system = load("knapsack-composer", &[]).unwrap();
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let ran = AtomicUsize::new(0);
    let watch = |_: &merit_lab::Progress<'_>| {
        ran.fetch_add(1, Ordering::Relaxed);
    };
    let alone = options(one.path(), 1);
    let grid = Grid::new(&system, &alone, 1).unwrap();
    let cells = grid.run(&watch).unwrap();
    assert_eq!(ran.swap(0, Ordering::Relaxed), grid.len());
    // A damaged cell is as good as none.
    let folder = one.path().join("knapsack-composer");
    let damaged = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&damaged, "{").unwrap();
    let again = grid.run(&watch).unwrap();
    assert_eq!(ran.swap(0, Ordering::Relaxed), 1);
    let together = options(two.path(), 3);
    let beside = Grid::new(&system, &together, 1).unwrap().run(&watch).unwrap();
    for other in [again, beside] {
        for (a, b) in cells.0.iter().zip(&other.0) {
            assert_eq!((&a.part, &a.arm, a.seed, &a.record), (&b.part, &b.arm, b.seed, &b.record));
        }
    }
}

#[test]
fn a_look_says_how_long_it_took_and_which_cells_it_ran() {
    let system = load("knapsack-composer", &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path(), 2);
    let grid = Grid::new(&system, &options, 1).unwrap();
    let (cells, first) = grid.run_timed(&|_| {}).unwrap();
    assert_eq!((first.cells, first.workers), (grid.len(), Some(2)));
    // Two workers cannot do more than two seconds of cells in a second.
    let all: f64 = cells.0.iter().map(|cell| cell.seconds).sum();
    assert!(first.seconds >= all / 2.0, "{} s for {all} s of cells", first.seconds);
    let (_, again) = grid.run_timed(&|_| {}).unwrap();
    assert_eq!(again.cells, 0, "cells that are there already are not run");
    let elsewhere = tempfile::tempdir().unwrap();
    let others = GridOptions { runner: Some(Arc::new(Others)), ..self::options(elsewhere.path(), 1) };
    let (_, by_others) = Grid::new(&system, &others, 1).unwrap().run_timed(&|_| {}).unwrap();
    assert_eq!(
        (by_others.cells, by_others.workers),
        (grid.len(), None),
        "nobody here knows how many they were"
    );
    let result = SystemResult::new(&system, &cells, judge(&system, &cells), Look::First);
    let untimed = serde_json::to_value(&result).unwrap();
    assert!(untimed.get("look_times").is_none());
    let timed = result.with_look_times(&[first, by_others]);
    let text = serde_json::to_string(&timed).unwrap();
    assert_eq!(serde_json::from_str::<SystemResult>(&text).unwrap(), timed);
    let page = system_page(&timed);
    let said = |look: &str, by: &str| {
        page.contains(&format!("{look} look: {} cells in", grid.len())) && page.contains(by)
    };
    assert!(said("first", "by 2 workers") && said("second", "on a cluster"), "{}", timed.time_words());
}

/// Runs each cell by a grid of its own, in a folder of its own, the last one first.
struct Others;

impl CellRunner for Others {
    fn run(
        &self,
        cells: &[OpenCell],
        _: &AtomicBool,
        told: &mut dyn FnMut(usize, CellEvent<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let system = load("knapsack-composer", &[]).unwrap();
        for (at, cell) in cells.iter().enumerate().rev() {
            let folder = tempfile::tempdir().unwrap();
            let only = Some(cell.name.clone());
            let options = GridOptions { only, seeds: Some(vec![cell.seed]), ..options(folder.path(), 1) };
            Grid::new(&system, &options, 1).unwrap().run(&|_| {}).unwrap();
            let file = folder.path().join(format!("knapsack-composer/{}.json", cell.name));
            told(at, CellEvent::Finished(&std::fs::read_to_string(file).unwrap()))?;
        }
        Ok(())
    }
}

#[test]
fn cells_that_others_ran_are_kept_as_if_they_had_been_run_here() {
    let system = load("knapsack-composer", &[]).unwrap();
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let here = Grid::new(&system, &options(one.path(), 1), 1).unwrap().run(&|_| {}).unwrap();
    let elsewhere = GridOptions { runner: Some(Arc::new(Others)), ..options(two.path(), 1) };
    let there = Grid::new(&system, &elsewhere, 1).unwrap().run(&|_| {}).unwrap();
    let found =
        Grid::new(&system, &options(two.path(), 1), 1).unwrap().run(&|_| panic!("it is there")).unwrap();
    for other in [there, found] {
        let same = here
            .0
            .iter()
            .zip(&other.0)
            .all(|(a, b)| (&a.arm, a.seed, &a.record) == (&b.arm, b.seed, &b.record));
        assert!(same && here.0.len() == other.0.len());
    }
    let odd = GridOptions { only: Some("main-random-101-0".into()), ..options(one.path(), 1) };
    let refused = Grid::new(&system, &odd, 1).err().unwrap().to_string();
    assert!(refused.contains("install the same merit everywhere"), "{refused}");
}

/// Loses the first cell, and runs the others.
struct Losing;

impl CellRunner for Losing {
    fn run(
        &self,
        cells: &[OpenCell],
        stop: &AtomicBool,
        told: &mut dyn FnMut(usize, CellEvent<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        told(0, CellEvent::Lost("the worker was lost"))?;
        Others.run(&cells[1..], stop, &mut |at, event| told(at + 1, event))
    }
}

#[test]
fn a_cell_that_was_lost_is_a_failure_and_is_not_run_again_unless_told() {
    let system = load("knapsack-composer", &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let by_others = GridOptions { runner: Some(Arc::new(Losing)), ..options(folder.path(), 1) };
    let cells = Grid::new(&system, &by_others, 1).unwrap().run(&|_| {}).unwrap();
    let lost: Vec<_> = cells.0.iter().filter(|cell| cell.lost).collect();
    assert_eq!(lost.len(), 1);
    let why = lost[0].broken.as_deref().unwrap();
    assert!(lost[0].record.is_none());
    assert!(why.starts_with("an infrastructure failure: the worker was lost"), "{why}");
    let ruling = judge(&system, &cells);
    assert!(ruling.why.ends_with(&format!("was lost: {why}")), "{}", ruling.why);
    let ran = |replay_lost: bool| {
        let options = GridOptions { replay_lost, ..options(folder.path(), 1) };
        let grid = Grid::new(&system, &options, 1).unwrap();
        let (cells, time) = grid.run_timed(&|_| {}).unwrap();
        (time.cells, cells.0.iter().filter(|cell| cell.lost).count())
    };
    assert_eq!(ran(false), (0, 1));
    assert_eq!(ran(true), (1, 0));
    assert_eq!(ran(false), (0, 0));
}

/// Begins every cell and tells nothing more: it is killed, or the grid is stopped.
struct Beginning {
    stopped: bool,
}

impl CellRunner for Beginning {
    fn run(
        &self,
        cells: &[OpenCell],
        stop: &AtomicBool,
        told: &mut dyn FnMut(usize, CellEvent<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        (0..cells.len()).try_for_each(|at| told(at, CellEvent::Begun))?;
        stop.store(self.stopped, Ordering::Relaxed);
        Err("killed".into())
    }
}

/// How many cells a grid runs, and how many of its cells are lost.
fn ran_and_lost(options: &GridOptions) -> (usize, usize) {
    let system = load("knapsack-composer", &[]).unwrap();
    let (cells, time) = Grid::new(&system, options, 1).unwrap().run_timed(&|_| {}).unwrap();
    (time.cells, cells.0.iter().filter(|cell| cell.lost).count())
}

#[test]
fn a_cell_that_was_begun_stays_lost_for_every_program_until_it_is_run_again() {
    let system = load("knapsack-composer", &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let here = GridOptions { arms: vec!["identity".into()], ..options(folder.path(), 1) };
    let killed = GridOptions { runner: Some(Arc::new(Beginning { stopped: false })), ..here.clone() };
    let grid = Grid::new(&system, &killed, 1).unwrap();
    let all = grid.len();
    assert!(all > 0 && matches!(grid.run(&|_| {}), Err(LabError::Elsewhere(_))));
    assert_eq!(ran_and_lost(&here), (0, all));
    let again = GridOptions { replay_lost: true, ..here.clone() };
    assert_eq!(ran_and_lost(&again), (all, 0));
    assert_eq!(ran_and_lost(&here), (0, 0));
    // A finished cell has a name by the program that ran it, so that another program finds none; a mark has not.
    let ending_in = |ending: &str| {
        let files = std::fs::read_dir(folder.path().join("knapsack-composer")).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|own| own == ending)).collect::<Vec<_>>()
    };
    let finished = ending_in("json");
    finished.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    assert!(grid.run(&|_| {}).is_err());
    assert!(ending_in("begun").iter().all(|path| !finished.contains(&path.with_extension("json"))));
    assert_eq!(ran_and_lost(&here), (0, all));
    let of_others = GridOptions { seeds: Some(vec![103]), ..here };
    assert_eq!(ran_and_lost(&of_others).1, 0);
}

#[test]
fn cells_that_were_begun_and_stopped_by_their_owner_are_not_lost() {
    let system = load("knapsack-composer", &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let here = options(folder.path(), 1);
    let (runner, stop) = (Arc::new(Beginning { stopped: true }), Arc::default());
    let stopped = GridOptions { runner: Some(runner), stop, ..here.clone() };
    let grid = Grid::new(&system, &stopped, 1).unwrap();
    assert!(matches!(grid.run(&|_| {}), Err(LabError::Stopped)));
    assert_eq!(ran_and_lost(&here), (grid.len(), 0));
}

#[test]
fn a_grid_that_is_stopped_says_so() {
    let system = load("knapsack-composer", &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path(), 2);
    options.stop.store(true, Ordering::Relaxed);
    let stopped = Grid::new(&system, &options, 1).unwrap().run(&|_| {});
    assert!(matches!(stopped, Err(LabError::Stopped)), "{stopped:?}");
}

#[test]
fn premises_are_tried_without_the_method() {
    let system = load("knapsack-composer", &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = GridOptions { premise: true, ..options(folder.path(), 1) };
    let cells = Grid::new(&system, &options, 1).unwrap().run(&|_| {}).unwrap();
    let methods: Vec<&str> = system.parts[0]
        .arms
        .iter()
        .filter(|arm| arm.role == merit_lab::Role::Method)
        .map(|arm| arm.name.as_str())
        .collect();
    assert!(!methods.is_empty() && !cells.0.is_empty());
    assert!(cells.0.iter().all(|cell| !methods.contains(&cell.arm.as_str())));
}

#[test]
fn arms_beyond_the_core_run_only_when_they_are_asked_for() {
    let reported = "within = 0.1\nrequired = false\n\n[[claims]]\nsays = \"it runs\"\nmeasure = \"success\"\narm = \"one\"\nvalue = { at_least = 0.0 }";
    let file = crate::files::FILE.replace("about = \"the same\"", "about = \"the same\"\ncore = false");
    let system = System::parse("small.toml", &file.replace("within = 0.1", reported)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let usual = GridOptions { smoke: false, ..options(folder.path(), 1) };
    let cells = |options: &GridOptions| Grid::new(&system, options, 1).unwrap().len();
    assert_eq!(cells(&usual), 2);
    assert_eq!(cells(&GridOptions { extended: true, ..usual.clone() }), 4);
    assert_eq!(cells(&GridOptions { arms: vec!["two".into()], ..usual }), 2);
}

#[test]
fn an_arm_that_there_is_not_is_named_with_the_nearest() {
    let system = load("knapsack-composer", &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = GridOptions { arms: vec!["onlin".into()], ..options(folder.path(), 1) };
    let refused = Grid::new(&system, &options, 1).err().unwrap().to_string();
    assert!(refused.contains("there is no arm `onlin`"), "{refused}");
}

/// Arms that spend differently by step, ended by the same amount.
const UNTIL: &str = r#"
name = "until"
about = "two ways to spend the same"
paper = "none"
scope = "hardly any steps"
confidence = "none"
seeds = 1
[experiment]
type = "recipe"
recipe = "RECIPE"
budget = { steps = 300, groups = 2, group_size = 2, until = { episodes = 400 } }
[budget]
episodes = 400
[[arms]]
name = "refilled"
role = "method"
about = "constant groups are replaced"
set = { tasks = { refill = { attempts = 1 } } }
[[arms]]
name = "plain"
role = "baseline"
about = "they are not"
[[claims]]
says = "nothing"
measure = "success"
arm = "refilled"
against = "plain"
difference = { at_least = 0.5 }
"#;

#[test]
fn arms_that_end_by_the_same_amount_have_equal_budgets() {
    let recipe = concat!(env!("CARGO_MANIFEST_DIR"), "/../merit-run/tests/it/staged/small.toml");
    let system = merit_lab::System::parse("until.toml", &UNTIL.replace("RECIPE", recipe)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = GridOptions { smoke: false, seeds: Some(vec![101]), ..options(folder.path(), 1) };
    let cells = Grid::new(&system, &options, 1).unwrap().run(&|_| {}).unwrap();
    let costs = |arm: &str| {
        let cell = cells.0.iter().find(|cell| cell.arm == arm).unwrap();
        &cell.record.as_ref().unwrap_or_else(|| panic!("{:?}", cell.broken)).costs
    };
    assert_eq!(costs("plain")["episodes"], 400.0);
    assert!((400.0..408.0).contains(&costs("refilled")["episodes"]), "{:?}", costs("refilled"));
    assert!(costs("refilled")["updates"] < costs("plain")["updates"]);
    assert!(costs("plain")["trained_tokens"] > 0.0);
    let why = merit_lab::judge(&system, &cells).why;
    assert!(!why.contains("budgets differ"), "{why}");
}

/// An evaluation that is the last one again, and one in which the policy is cut off before it can answer.
const AGAIN: &str = r#"
name = "again"
about = "the same tasks three times"
paper = "none"
scope = "hardly any steps"
confidence = "none"
seeds = 1
[experiment]
type = "recipe"
recipe = "RECIPE"
stages = [
  { type = "imitate", from = "demonstrations", steps = 200 },
  { type = "evaluate", name = "after" },
  { type = "evaluate", name = "again" },
  { type = "evaluate", name = "cut", set = { rollout = { max_turn_tokens = 1 } } },
]
[[arms]]
name = "only"
role = "method"
about = "the only one"
[[claims]]
says = "the same answers"
measure = "again/agrees"
arm = "only"
value = { at_least = 1.0 }
"#;

#[test]
fn an_evaluation_agrees_with_the_last_one_where_it_ends_with_the_same_answers() {
    let recipe = concat!(env!("CARGO_MANIFEST_DIR"), "/../merit-run/tests/it/staged/small.toml");
    let system = merit_lab::System::parse("again.toml", &AGAIN.replace("RECIPE", recipe)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = GridOptions { smoke: false, seeds: Some(vec![101]), ..options(folder.path(), 1) };
    let cells = Grid::new(&system, &options, 1).unwrap().run(&|_| {}).unwrap();
    let measures = &cells.0[0].record.as_ref().unwrap_or_else(|| panic!("{:?}", cells.0[0].broken)).measures;
    assert_eq!(measures["again/agrees"], 1.0, "the same policy, the same tasks, greedily");
    assert_eq!(measures["cut/agrees"], 0.0, "whoever is cut off gives no answer");
}
