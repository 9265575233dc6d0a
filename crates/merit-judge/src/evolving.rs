//! Evolving a judge on disk: pairs are parted, ideas measured, the library evolved into the folder, and the best version tested once.

use crate::mined::{Idea, Measured, Mined, ideas};
use crate::{
    Analyst, AskedJudge, AskedSubject, Asker, CheckError, Checks, FolderError, Judge, JudgeFolder, Kept,
    Pair, Parted, Tested, test,
};
use merit_core::registry::Components;
use merit_evolve::{Change, EvolveError, Library, Phase, Proposer, Subject, evolve, prune_only};
use std::cell::RefCell;
use std::sync::Arc;

/// Why nothing was evolved.
#[derive(Debug, thiserror::Error)]
pub enum EvolvingError {
    /// The library folder cannot be read or written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The loop of proposals and gates failed.
    #[error(transparent)]
    Evolve(#[from] EvolveError),
    /// A check of the library is not usable.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// A budget of calls for a judge that makes none.
    #[error(
        "`evolve.budget` counts paid calls, and a judge made of checks makes none; set it to 0 in `library.toml`"
    )]
    NothingIsPaid,
    /// The gate let nothing through.
    #[error(
        "none of {tried} changes is right about more of the pairs that decide, so there is no judge yet; give more pairs, or checks \
         of your own with `--checks`"
    )]
    NothingKept {
        /// Changes that were tried.
        tried: usize,
    },
    #[error(
        "{pairs} pairs in {groups} groups are too few: {train} are left to learn from, {validation} to decide by and {test} to test on; \
         give at least 4 of each, or other shares in `library.toml`"
    )]
    TooFew {
        pairs: usize,
        /// Groups, which are never parted.
        groups: usize,
        train: usize,
        validation: usize,
        test: usize,
    },
}

/// The version that evolving led to, and how it did.
#[derive(Debug, Clone)]
pub struct Evolved {
    /// Pairs in each part: training, validation, test.
    pub parts: [usize; 3],
    /// Ideas that there were to choose from.
    pub ideas: usize,
    /// Ideas that could not be used, with the reason.
    pub left_out: Vec<(String, CheckError)>,
    /// Changes that were tried, and those kept.
    pub tried: (usize, usize),
    /// The version in use from now on: the best one.
    pub version: usize,
    pub library: Library,
    /// What it came to on the test pairs, beside what knows nothing of quality.
    pub tested: Tested,
}

/// Evolves the checks of a judge from pairs, with ideas from the data and `own` ones. `watch` sees every change.
///
/// ```
/// use merit_judge::{JudgeFolder, LibraryFile, evolve_checks, read_pairs};
/// let home = tempfile::tempdir()?;
/// let (file, judge) = (home.path().join("pairs.jsonl"), home.path().join("judge"));
/// let pair = |n: u64| serde_json::json!({ "prompt": format!("order {n}"), "chosen": { "stars": 9000 + n }, "rejected": { "stars": 100 + n } });
/// std::fs::write(&file, (0..80).map(|n| pair(n).to_string() + "\n").collect::<String>())?;
/// JudgeFolder::create(&judge, &LibraryFile::default())?;
/// let mut folder = JudgeFolder::open(&judge)?;
/// let components = merit_graders::register(merit_reward::register(Default::default()));
/// let evolved = evolve_checks(&mut folder, &read_pairs(&file)?, vec![], &components, &mut |_| {})?;
/// assert!(evolved.tested.judge.accuracy > Some(0.9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evolve_checks(
    folder: &mut JudgeFolder,
    pairs: &[Pair],
    own: Vec<Idea>,
    components: &Components,
    watch: &mut dyn FnMut(&Change),
) -> Result<Evolved, EvolvingError> {
    if folder.file.evolve.budget > 0 {
        return Err(EvolvingError::NothingIsPaid);
    }
    let parted = parted(folder, pairs)?;
    let start = folder.in_use()?;
    let known = start.entries().map(|(id, entry)| (id.to_owned(), entry.clone()));
    let shown = |pair: &Pair| [Arc::clone(&pair.a), Arc::clone(&pair.b)];
    let episodes: Vec<_> = parted.train.iter().flat_map(shown).collect();
    // Later ones of the same name take the place of earlier ones: what is in the library is measured as it stands.
    let all: Vec<Idea> = ideas(&episodes).into_iter().chain(own).chain(known).collect();
    let (measured, left_out) = Measured::new(all, &parted.train, &parted.validation, components);
    if let Some((_, error)) = left_out.iter().find(|(id, _)| start.get(id).is_some()) {
        return Err(error.clone().into());
    }
    let ideas = measured.len();
    let mut subject = measured.clone();
    let mut proposer = Mined::new(&measured);
    let (library, version, tried) = recorded(folder, start, &mut subject, &mut proposer, watch)?;
    if library.is_empty() {
        return Err(EvolvingError::NothingKept { tried: tried.0 });
    }
    let mut judge = Checks::compile(&folder.name(), &library, components)?;
    let tested = tested(folder, &mut judge, &parted, version)?;
    let parts = [parted.train.len(), parted.validation.len(), parted.test.len()];
    Ok(Evolved { parts, ideas, left_out, tried, version, library, tested })
}

/// Evolves what a model consults: it judges the pairs, and `analyst` reads its verdicts and writes skills. Nothing is paid twice.
pub fn evolve_asked(
    folder: &mut JudgeFolder,
    pairs: &[Pair],
    judge: AskedJudge,
    (analyst, kept): (Box<dyn Asker>, Kept),
    watch: &mut dyn FnMut(&Change),
) -> Result<Evolved, EvolvingError> {
    let parted = parted(folder, pairs)?;
    let start = folder.in_use()?;
    let mut subject = AskedSubject::new(judge, &parted.train, &parted.validation);
    let mut proposer = Analyst::new(analyst, kept, &subject);
    let (library, version, tried) = recorded(folder, start, &mut subject, &mut proposer, watch)?;
    let mut judge = subject.into_judge(&library);
    let tested = tested(folder, &mut judge, &parted, version)?;
    let parts = [parted.train.len(), parted.validation.len(), parted.test.len()];
    Ok(Evolved { parts, ideas: 0, left_out: Vec::new(), tried, version, library, tested })
}

/// Evolves into the folder, and puts the best version in use. Out: its library, its number, and how many changes were tried and kept.
fn recorded(
    folder: &mut JudgeFolder,
    start: Library,
    subject: &mut dyn Subject,
    proposer: &mut dyn Proposer,
    watch: &mut dyn FnMut(&Change),
) -> Result<(Library, usize, (usize, usize)), EvolvingError> {
    let settings = folder.file.evolve.clone();
    let recorder = RefCell::new(Recorder { folder, numbers: Vec::new(), kept: 0, broke: None });
    let evolution = evolve(start, subject, proposer, &settings, &mut |change, _| {
        watch(change);
        recorder.borrow_mut().record(change);
    })?;
    let Recorder { folder, numbers, kept, broke } = recorder.into_inner();
    if let Some(error) = broke {
        return Err(error.into());
    }
    let version = numbers.get(evolution.best_version).copied().unwrap_or(folder.state.version);
    folder.state.best = version;
    folder.use_version(version)?;
    Ok((evolution.best, version, (evolution.changes.len() - 1, kept)))
}

/// The one look at the test pairs, kept in the folder.
fn tested(
    folder: &mut JudgeFolder,
    judge: &mut dyn Judge,
    parted: &Parted,
    version: usize,
) -> Result<Tested, EvolvingError> {
    let learned_from = [parted.train.as_slice(), parted.validation.as_slice()].concat();
    let tested = test(judge, &parted.test, &learned_from, 1);
    folder.keep_test(version, &tested)?;
    Ok(tested)
}

/// Takes out entries without which the validation pairs do no worse; `margin` is what all of them together may cost.
pub fn prune_checks(
    folder: &mut JudgeFolder,
    pairs: &[Pair],
    margin: f64,
    components: &Components,
    watch: &mut dyn FnMut(&Change),
) -> Result<Library, EvolvingError> {
    let parted = parted(folder, pairs)?;
    let start = folder.in_use()?;
    let known = start.entries().map(|(id, entry)| (id.to_owned(), entry.clone())).collect();
    let (mut measured, left_out) = Measured::new(known, &parted.train, &parted.validation, components);
    if let Some((_, error)) = left_out.into_iter().next() {
        return Err(error.into());
    }
    let recorder = RefCell::new(Recorder { folder, numbers: Vec::new(), kept: 0, broke: None });
    let evolution = prune_only(start, &mut measured, margin, &mut |change, _| {
        watch(change);
        recorder.borrow_mut().record(change);
    })?;
    let Recorder { folder, numbers, broke, .. } = recorder.into_inner();
    if let Some(error) = broke {
        return Err(error.into());
    }
    let last = evolution.changes.iter().rev().find(|change| change.kept).map_or(0, |change| change.version);
    let version = numbers.get(last).copied().unwrap_or(folder.state.version);
    folder.use_version(version)?;
    Ok(evolution.head)
}

fn parted(folder: &JudgeFolder, pairs: &[Pair]) -> Result<Parted, EvolvingError> {
    let parted = Parted::of(pairs, folder.file.split);
    let [train, validation, test] = [parted.train.len(), parted.validation.len(), parted.test.len()];
    if train.min(validation).min(test) < 4 {
        let groups: std::collections::BTreeSet<&str> = pairs.iter().map(|pair| pair.group.as_str()).collect();
        let (pairs, groups) = (pairs.len(), groups.len());
        return Err(EvolvingError::TooFew { pairs, groups, train, validation, test });
    }
    Ok(parted)
}

/// Writes changes to the folder as they come, with the folder's own numbers.
struct Recorder<'a> {
    folder: &'a mut JudgeFolder,
    /// The folder's version for each version of this evolution.
    numbers: Vec<usize>,
    kept: usize,
    broke: Option<FolderError>,
}

impl Recorder<'_> {
    fn record(&mut self, change: &Change) {
        if self.broke.is_some() {
            return;
        }
        let known = change.phase == Phase::Baseline && !self.folder.changes.is_empty();
        if known {
            self.numbers.push(self.folder.state.version);
            return;
        }
        let parent = self.numbers.get(change.parent).copied().unwrap_or(0);
        self.kept += usize::from(change.kept && change.phase != Phase::Baseline);
        match self.folder.record(change.clone(), parent) {
            Ok(version) => self.numbers.push(version),
            Err(error) => self.broke = Some(error),
        }
    }
}
