//! Runs the cells of a system: seed by seed, a few at a time, each kept on disk as soon as it is finished.

use crate::cell::{Cell, CellKey, Cells, put};
use crate::experiment::{Bench, Experiment};
use crate::{LabError, Part, Role, System};
use merit_studies::StudyError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What runs cells in this process's place. A cell that another program ran has another name, and is no cell of these.
pub trait CellRunner: Send + Sync {
    /// Runs the cells, in any order, until `stop` is set. Tells what happens to each as it happens, by its place among `cells`.
    fn run(
        &self,
        cells: &[OpenCell],
        stop: &AtomicBool,
        told: &mut dyn FnMut(usize, CellEvent<'_>) -> Result<(), String>,
    ) -> Result<(), String>;
}

/// A cell that is still to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCell {
    /// The name of its file, without the ending.
    pub name: String,
    pub seed: u64,
    /// The parts of it that reach outside, by their types. Where there are some it may be begun once only: should it be lost with whoever ran
    /// it, nobody knows what it has done there. Empty where it may be run again.
    pub reaches_outside: Vec<String>,
}

/// What happened to a cell that others run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellEvent<'a> {
    /// It reaches outside, and somebody is about to begin it. Should nobody tell what came of it, it is lost.
    Begun,
    /// It was finished: what its file holds.
    Finished(&'a str),
    /// Whoever ran it is gone or failed, and it was not run again: what happened to them.
    Lost(&'a str),
    /// It was begun, and refused before it did anything: it may be run again.
    Refused,
}

/// What is run of a system, and where it is kept.
#[derive(Clone)]
pub struct GridOptions {
    /// The folder of finished cells.
    pub folder: PathBuf,
    /// One-threaded cells side by side.
    pub workers: usize,
    /// One seed and the small settings of the file.
    pub smoke: bool,
    /// Premises and baselines only: the method is not run.
    pub premise: bool,
    /// These seeds instead of the file's.
    pub seeds: Option<Vec<u64>>,
    /// Arms too that are not core.
    pub extended: bool,
    /// These arms only. Empty: the core ones, and with `extended` all.
    pub arms: Vec<String>,
    /// Keep what a cell needed while it ran: the run folders of recipes.
    pub keep: bool,
    /// Only the cell of this name.
    pub only: Option<String>,
    /// Run again what was lost with whoever ran it, also where it reaches outside.
    pub replay_lost: bool,
    /// Who runs the cells. Absent: this process.
    pub runner: Option<Arc<dyn CellRunner>>,
    /// Set from outside to stop; the cells under way are lost, the finished ones are not.
    pub stop: Arc<AtomicBool>,
}

/// What happened, for the watcher.
#[derive(Debug, Clone)]
pub struct Progress<'a> {
    pub system: &'a str,
    pub done: usize,
    pub total: usize,
    /// Cells that were there already.
    pub found: usize,
    /// The cell that was just finished.
    pub cell: &'a Cell,
    /// About how long the rest takes.
    pub seconds_left: f64,
}

/// How long a look at a system took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookTime {
    /// By the clock on the wall, from the first cell to the last.
    pub seconds: f64,
    /// The cells that were run in that time. Cells that were there already, of an earlier run or of the first look, are none of them.
    pub cells: usize,
    /// One-threaded cells side by side. Absent: a cluster ran them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers: Option<usize>,
}

/// The cells of one look at a system.
pub struct Grid<'a> {
    system: &'a System,
    options: &'a GridOptions,
    jobs: Vec<Job<'a>>,
}

struct Job<'a> {
    part: &'a Part,
    arm: &'a str,
    seed: u64,
    budget: BTreeMap<String, f64>,
    experiment: Arc<Experiment>,
    key: CellKey,
    /// Its name that is the same for every program.
    mark: CellKey,
}

/// At least as many seeds at a time as there are workers, so that arms which share a start find it made: a block with fewer would
/// leave a worker waiting for a start that another makes.
fn blocks(mut seeds: &[u64], workers: usize) -> impl Iterator<Item = &[u64]> {
    std::iter::from_fn(move || {
        let size = if seeds.len() < 2 * workers { seeds.len() } else { workers };
        let (block, later) = seeds.split_at(size);
        seeds = later;
        (!block.is_empty()).then_some(block)
    })
}

impl<'a> Grid<'a> {
    /// The cells of the file's seeds; with `looks` = 2, of twice as many.
    pub fn new(system: &'a System, options: &'a GridOptions, looks: u64) -> Result<Self, LabError> {
        let mut jobs = Vec::new();
        for part in &system.parts {
            let seeds: Vec<u64> = match &options.seeds {
                Some(seeds) => seeds.clone(),
                None if options.smoke => vec![1],
                None => (1..=part.seeds * looks).collect(),
            };
            let budget = part.budget(options.smoke);
            let mut arms = Vec::new();
            for arm in &part.arms {
                let usual = arm.core || options.extended || options.smoke;
                let asked = options.arms.contains(&arm.name) || (options.arms.is_empty() && usual);
                if asked && !(options.premise && arm.role == Role::Method) {
                    let experiment = part.experiment(&system.name, arm, options.smoke)?;
                    arms.push((arm.name.as_str(), Arc::new(experiment)));
                }
            }
            for seeds in blocks(&seeds, options.workers.max(1)) {
                for (arm, experiment) in &arms {
                    for &seed in seeds {
                        let key = CellKey::new(experiment, &budget, seed);
                        let mark = CellKey::of_any_program(experiment, &budget, seed);
                        let (budget, experiment) = (budget.clone(), Arc::clone(experiment));
                        jobs.push(Job { part, arm, seed, budget, experiment, key, mark });
                    }
                }
            }
        }
        let known: Vec<&str> =
            system.parts.iter().flat_map(|p| &p.arms).map(|arm| arm.name.as_str()).collect();
        for asked in &options.arms {
            if !known.contains(&asked.as_str()) {
                let near = merit_core::registry::nearest(asked, known.iter().copied());
                let hint = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
                let why = format!("there is no arm `{asked}`{hint}");
                return Err(LabError::System { file: system.name.clone(), why });
            }
        }
        if let Some(only) = &options.only {
            jobs.retain(|job| name(job) == *only);
            if jobs.is_empty() {
                let why = format!(
                    "this program has no cell `{only}`, so that it is not the one that asks for it; install the same merit everywhere"
                );
                return Err(LabError::System { file: system.name.clone(), why });
            }
        }
        Ok(Self { system, options, jobs })
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Runs what is not there yet.
    ///
    /// ```
    /// use merit_lab::{Grid, GridOptions, load};
    /// let system = load("knapsack-composer", &[])?;
    /// let home = tempfile::tempdir()?;
    /// let options = GridOptions {
    ///     folder: home.path().to_owned(),
    ///     workers: 1,
    ///     smoke: true,
    ///     premise: false,
    ///     seeds: Some(vec![1]),
    ///     extended: false,
    ///     arms: vec!["identity".into()],
    ///     keep: false,
    ///     only: None,
    ///     replay_lost: false,
    ///     runner: None,
    ///     stop: Default::default(),
    /// };
    /// let grid = Grid::new(&system, &options, 1)?;
    /// let cells = grid.run(&|_| {})?;
    /// assert_eq!(cells.0.len(), grid.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(&self, watch: &(dyn Fn(&Progress<'_>) + Sync)) -> Result<Cells, LabError> {
        Ok(self.run_timed(watch)?.0)
    }

    /// The same, and how long it took.
    pub fn run_timed(&self, watch: &(dyn Fn(&Progress<'_>) + Sync)) -> Result<(Cells, LookTime), LabError> {
        let folder = self.options.folder.join(&self.system.name);
        std::fs::create_dir_all(&folder).map_err(LabError::file("make", &folder))?;
        let found: Vec<Option<Cell>> = self.jobs.iter().map(|job| self.found(&folder, job)).collect();
        let open: Vec<usize> = (0..self.jobs.len()).filter(|&at| found[at].is_none()).collect();
        let began = Instant::now();
        let run = Running { grid: self, open: &open, found: Mutex::new(found), began, watch };
        match &self.options.runner {
            Some(runner) => run.elsewhere(&**runner, &folder)?,
            None => run.here(&folder)?,
        }
        let time = LookTime {
            seconds: began.elapsed().as_secs_f64(),
            cells: open.len(),
            workers: self.options.runner.is_none().then_some(self.options.workers.max(1)),
        };
        let cells = run.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((Cells(self.in_order(cells.into_iter().flatten().collect())), time))
    }

    /// What there is of a cell: it ended well, or it was lost, by whichever program, and may not be run again.
    fn found(&self, folder: &Path, job: &Job<'_>) -> Option<Cell> {
        let finished = Cell::load(&path(folder, job)).filter(|cell| cell.broken.is_none());
        let marked = || std::fs::read(mark_path(folder, job)).ok().filter(|_| !self.options.replay_lost);
        finished.or_else(|| marked().map(|why| lost(job, String::from_utf8_lossy(&why).into_owned())))
    }

    /// By part, arm and seed, whatever the order in which they were run.
    fn in_order(&self, mut cells: Vec<Cell>) -> Vec<Cell> {
        let arms: Vec<(&str, &str)> = self
            .system
            .parts
            .iter()
            .flat_map(|part| part.arms.iter().map(|arm| (part.name.as_str(), arm.name.as_str())))
            .collect();
        let place = |cell: &Cell| arms.iter().position(|arm| *arm == (cell.part.as_str(), cell.arm.as_str()));
        cells.sort_by_key(|cell| (place(cell), cell.seed));
        cells
    }

    /// One cell; a second attempt where the first broke.
    fn cell(&self, folder: &Path, job: &Job<'_>) -> Result<Cell, LabError> {
        let work = folder.join(format!("{}.run", name(job)));
        let starts = folder.join("starts");
        let bench = Bench {
            folder: &work,
            starts: &starts,
            stop: &self.options.stop,
            budget: job.budget.clone(),
            kept: self.options.keep,
        };
        let began = Instant::now();
        let run = || {
            if self.options.stop.load(Ordering::Relaxed) {
                return Err(StudyError::Stopped);
            }
            job.experiment.run(job.seed, &bench)
        };
        let ran = run().or_else(|error| match error {
            StudyError::Stopped => Err(StudyError::Stopped),
            StudyError::Broken(_) => run(),
        });
        let (record, broken) = match ran {
            Ok(record) => (Some(record), None),
            Err(StudyError::Stopped) => return Err(LabError::Stopped),
            Err(StudyError::Broken(why)) => (None, Some(why)),
        };
        let (part, arm) = (job.part.name.clone(), job.arm.to_owned());
        let (seconds, lost) = (began.elapsed().as_secs_f64(), false);
        let cell = Cell { part, arm, seed: job.seed, seconds, record, broken, lost };
        cell.save(&path(folder, job))?;
        unmark(folder, job)?;
        if !self.options.keep && cell.broken.is_none() && work.exists() {
            std::fs::remove_dir_all(&work).map_err(LabError::file("remove", &work))?;
        }
        Ok(cell)
    }
}

/// Cells under way.
struct Running<'a> {
    grid: &'a Grid<'a>,
    /// Places of the cells that were not there.
    open: &'a [usize],
    /// What there is by now.
    found: Mutex<Vec<Option<Cell>>>,
    began: Instant,
    watch: &'a (dyn Fn(&Progress<'_>) + Sync),
}

impl Running<'_> {
    /// Runs them on the threads of this process.
    fn here(&self, folder: &Path) -> Result<(), LabError> {
        let (next, failed) = (AtomicUsize::new(0), Mutex::new(None::<LabError>));
        std::thread::scope(|scope| {
            for _ in 0..self.grid.options.workers.clamp(1, self.open.len().max(1)) {
                scope.spawn(|| {
                    while let Some(&at) = self.open.get(next.fetch_add(1, Ordering::Relaxed)) {
                        match self.grid.cell(folder, &self.grid.jobs[at]) {
                            Ok(cell) => self.finished(at, cell),
                            Err(error) => {
                                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                                next.store(self.open.len(), Ordering::Relaxed);
                            }
                        }
                    }
                });
            }
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Lets `runner` run them; each is kept here as if it had been run here.
    fn elsewhere(&self, runner: &dyn CellRunner, folder: &Path) -> Result<(), LabError> {
        let jobs: Vec<&Job<'_>> = self.open.iter().map(|&at| &self.grid.jobs[at]).collect();
        let open = |job: &&Job<'_>| OpenCell {
            name: name(job),
            seed: job.seed,
            reaches_outside: match self.grid.options.replay_lost {
                true => Vec::new(),
                false => job.experiment.reaches_outside(),
            },
        };
        let cells: Vec<OpenCell> = jobs.iter().map(open).collect();
        let stop = &*self.grid.options.stop;
        let mut begun = Vec::new();
        let mut keep = |at: usize, event: CellEvent<'_>| {
            let job = *jobs.get(at).ok_or("it told of a cell that nobody asked for")?;
            let told = |error: LabError| error.to_string();
            begun.retain(|one| *one != at);
            let cell = match event {
                CellEvent::Begun => {
                    begun.push(at);
                    return mark(
                        folder,
                        job,
                        "nobody has told what came of it (whoever waited for it was lost, or still runs it)",
                    )
                    .map(drop)
                    .map_err(told);
                }
                CellEvent::Finished(text) => {
                    let cell = cell_of(job, text)?;
                    cell.save(&path(folder, job)).and_then(|()| unmark(folder, job)).map_err(told)?;
                    cell
                }
                CellEvent::Lost(why) => lost(job, mark(folder, job, why).map_err(told)?),
                CellEvent::Refused => return unmark(folder, job).map_err(told),
            };
            self.finished(self.open[at], cell);
            Ok(())
        };
        if cells.is_empty() {
            return Ok(());
        }
        let ran = runner.run(&cells, stop, &mut keep);
        // Whoever stops it himself knows what he stopped.
        if stop.load(Ordering::Relaxed) {
            begun.iter().try_for_each(|at: &usize| unmark(folder, jobs[*at]))?;
        }
        let missing = self.found.lock().unwrap_or_else(PoisonError::into_inner).iter().any(Option::is_none);
        match ran {
            _ if stop.load(Ordering::Relaxed) => Err(LabError::Stopped),
            Err(why) => Err(LabError::Elsewhere(why)),
            Ok(()) if missing => Err(LabError::Elsewhere("a cell was never finished".into())),
            Ok(()) => Ok(()),
        }
    }

    fn finished(&self, at: usize, cell: Cell) {
        let (grid, total) = (self.grid, self.grid.jobs.len());
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found[at] = Some(cell);
        let left = found.iter().filter(|cell| cell.is_none()).count();
        let per_cell = self.began.elapsed().as_secs_f64() / (self.open.len() - left).max(1) as f64;
        if let Some(cell) = &found[at] {
            (self.watch)(&Progress {
                system: &grid.system.name,
                done: total - left,
                total,
                found: total - self.open.len(),
                cell,
                seconds_left: per_cell * left as f64,
            });
        }
    }
}

/// The cell that somebody else ran.
fn cell_of(job: &Job<'_>, text: &str) -> Result<Cell, String> {
    let cell: Cell = serde_json::from_str(text).map_err(|why| format!("a cell cannot be read: {why}"))?;
    let asked = (job.part.name.as_str(), job.arm, job.seed);
    let same = (cell.part.as_str(), cell.arm.as_str(), cell.seed) == asked;
    if same { Ok(cell) } else { Err(format!("it gave another cell than {}", name(job))) }
}

/// A cell that was lost: a failure of nobody's method.
fn lost(job: &Job<'_>, why: String) -> Cell {
    let (part, arm) = (job.part.name.clone(), job.arm.to_owned());
    Cell { part, arm, seed: job.seed, seconds: 0.0, record: None, broken: Some(why), lost: true }
}

/// Marks a cell as lost. Gives the whole reason.
fn mark(folder: &Path, job: &Job<'_>, why: &str) -> Result<String, LabError> {
    let outside: Vec<String> =
        job.experiment.reaches_outside().iter().map(|name| format!("`{name}`")).collect();
    let why = format!(
        "an infrastructure failure: {why}, and it was not run again, since it reaches outside by {}; see what it has done there, and run \
         it again with --replay-lost",
        outside.join(" and ")
    );
    let path = mark_path(folder, job);
    put(&path, why.as_bytes())?;
    Ok(why)
}

/// Takes the mark of a cell away, if it has one.
fn unmark(folder: &Path, job: &Job<'_>) -> Result<(), LabError> {
    let path = mark_path(folder, job);
    match std::fs::remove_file(&path) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(LabError::file("remove", &path)(why)),
        _ => Ok(()),
    }
}

/// The file that says why a cell is lost. It is there while somebody else runs the cell, and afterwards until it is finished.
fn mark_path(folder: &Path, job: &Job<'_>) -> PathBuf {
    let (part, arm, seed, mark) = (&job.part.name, job.arm, job.seed, job.mark.as_str());
    folder.join(format!("{part}-{arm}-{seed}-{mark}.begun"))
}

fn name(job: &Job<'_>) -> String {
    format!("{}-{}-{}-{}", job.part.name, job.arm, job.seed, job.key.as_str())
}

fn path(folder: &Path, job: &Job<'_>) -> PathBuf {
    folder.join(format!("{}.json", name(job)))
}

#[cfg(test)]
mod tests {
    use super::blocks;

    #[test]
    fn no_block_of_seeds_is_smaller_than_the_workers() {
        let of = |seeds: &[u64], workers| blocks(seeds, workers).map(<[u64]>::to_vec).collect::<Vec<_>>();
        assert_eq!(of(&[1, 2, 3, 4, 5], 2), [vec![1, 2], vec![3, 4, 5]]);
        assert_eq!(of(&[1, 2, 3, 4], 2), [vec![1, 2], vec![3, 4]]);
        assert_eq!(of(&[1, 2, 3], 4), [vec![1, 2, 3]]);
        assert!(of(&[], 2).is_empty());
    }
}
