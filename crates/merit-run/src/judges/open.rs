//! Opening a judge that a file describes.

use super::asker::ModelAsker;
use super::record::Record;
use super::settings::{ExamplesFrom, JudgeFile, JudgeSettings};
use crate::RunError;
use crate::recipe_error::RecipeError;
use merit_core::{Components, Episode, Seed};
use merit_evolve::Library;
use merit_judge::ask::{Ask, Examples, Wording};
use merit_judge::{
    Answer, AskedJudge, Judge, JudgeFolder, Kept, Panel, Parted, SplitShares, Tournament, Verdict,
    read_graded, read_pairs, tournament,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// When nothing more is asked, and where judgements are written.
type Told<'a> = (Option<&'a Arc<AtomicBool>>, Option<&'a Record>);

/// What a judge consults, and what its file may name.
type With<'a> = (&'a Library, &'a Components);

/// A judge that is open: one model, or a panel.
pub enum OpenJudge {
    /// One model answers.
    One {
        judge: Box<AskedJudge>,
        /// Who meets whom where many are ranked.
        tournament: Tournament,
    },
    /// Several models answer, as a panel.
    Panel {
        panel: Panel,
        /// Whether all of them give numbers.
        numbers: bool,
        /// Who meets whom where many are ranked.
        tournament: Tournament,
    },
}

impl OpenJudge {
    /// The judge of this file or folder, which consults this library. Its file is read against `components`.
    pub fn open(
        path: &Path,
        library: &Library,
        components: &Components,
        stop: Option<&Arc<AtomicBool>>,
    ) -> Result<Self, RunError> {
        Self::open_within(path, (library, components), (stop, None), 0)
    }

    /// The same; every judgement is written there as an episode.
    pub fn recorded(
        path: &Path,
        library: &Library,
        components: &Components,
        record: &Record,
    ) -> Result<Self, RunError> {
        Self::open_within(path, (library, components), (None, Some(record)), 0)
    }

    fn open_within(path: &Path, with: With<'_>, told: Told<'_>, depth: usize) -> Result<Self, RunError> {
        let (library, components) = with;
        let (read, file) = JudgeFile::read(path, components)?;
        let beside = file.parent().unwrap_or(Path::new("."));
        match read {
            JudgeFile::One(settings) => {
                let seed = Seed::root(settings.seed);
                let judge = Box::new(asked(&settings, beside, library, told, seed)?);
                Ok(Self::One { judge, tournament: settings.tournament })
            }
            JudgeFile::Panel(_) if depth > 0 => {
                let why = "a judge of a panel is itself a panel; list its judges instead".to_owned();
                Err(RecipeError::Combination { file: file.display().to_string(), why }.into())
            }
            JudgeFile::Panel(settings) => {
                let one = |name: &PathBuf| Self::open_within(&beside.join(name), with, told, depth + 1);
                let judges = settings.panel.iter().map(one).collect::<Result<Vec<Self>, RunError>>()?;
                let numbers = judges.iter().all(Self::gives_numbers);
                let judges = judges.into_iter().map(Self::into_judge).collect();
                let panel = Panel::new(judges, settings.rule).weighted(settings.weights);
                Ok(Self::Panel { panel, numbers, tournament: settings.tournament })
            }
        }
    }

    /// Whether it gives one episode a number; else it compares.
    pub fn gives_numbers(&self) -> bool {
        match self {
            Self::One { judge, .. } => judge.ask().is_of_one(),
            Self::Panel { numbers, .. } => *numbers,
        }
    }

    /// The judge, be it one model or a panel.
    pub fn judge(&mut self) -> &mut dyn Judge {
        match self {
            Self::One { judge, .. } => judge.as_mut(),
            Self::Panel { panel, .. } => panel,
        }
    }

    pub fn into_judge(self) -> Box<dyn Judge> {
        match self {
            Self::One { judge, .. } => judge,
            Self::Panel { panel, .. } => Box::new(panel),
        }
    }

    /// All of these, the best first: as a list where the judge is asked for one, by its numbers where it gives some, else by meetings.
    pub fn rank(&mut self, group: &[Arc<Episode>]) -> Answer {
        match self {
            Self::One { judge, .. } if matches!(judge.ask(), Ask::Rank {}) => judge.rank(group),
            Self::One { judge, .. } if judge.ask().is_of_one() => by_score(&judge.score(group)),
            Self::One { judge, tournament: rule } => tournament(judge.as_mut(), group, *rule),
            Self::Panel { panel, numbers: true, .. } => by_score(&panel.score(group)),
            Self::Panel { panel, tournament: rule, .. } => tournament(panel, group, *rule),
        }
    }
}

/// The order of numbers; none where one is missing.
fn by_score(scores: &[Answer]) -> Answer {
    let cost = scores.iter().map(|answer| answer.cost).sum();
    let values: Option<Vec<f64>> = scores.iter().map(|answer| answer.verdict.value()).collect();
    let verdict = match values {
        Some(values) => {
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
            Verdict::Ranks { order }
        }
        None => Verdict::Failed { why: "one of them has no number".to_owned() },
    };
    Answer { cost, ..Answer::of(verdict) }
}

/// A judge that is asked in words. A model of a recipe cannot be had here.
pub(super) fn asked(
    settings: &JudgeSettings,
    beside: &Path,
    library: &Library,
    (stop, record): Told<'_>,
    seed: Seed,
) -> Result<AskedJudge, RunError> {
    if settings.backend.is_own() {
        return Err(RunError::Annotator(settings.backend.only_in_a_recipe()));
    }
    let kept = match &settings.kept {
        Some(name) => {
            Kept::open(&beside.join(name)).map_err(|error| RunError::Annotator(error.to_string()))?
        }
        None => Kept::in_memory(),
    };
    if let Some(oracle) = settings.backend.oracle() {
        if record.is_some() {
            let why =
                "judgements of an oracle are no episodes: no model is asked; leave out `--record`".to_owned();
            return Err(RunError::Annotator(why));
        }
        let asker = oracle.asker(&settings.ask, settings.asker_id(), seed).map_err(RunError::Annotator)?;
        return Ok(AskedJudge::new(
            Box::new(asker),
            wording(settings, beside, library)?,
            settings.asking(),
            kept,
        ));
    }
    let asker = ModelAsker::new(settings);
    let asker = match stop {
        Some(flag) => asker.with_stop(Arc::clone(flag)),
        None => asker,
    };
    let asker = match record {
        Some(record) => asker.with_record(record.clone()),
        None => asker,
    };
    Ok(AskedJudge::new(Box::new(asker), wording(settings, beside, library)?, settings.asking(), kept))
}

/// How the questions of a judge are put; its files stand beside this folder.
pub(super) fn wording(
    settings: &JudgeSettings,
    beside: &Path,
    library: &Library,
) -> Result<Wording, RunError> {
    let examples = settings.examples.as_ref().map(|from| examples(settings, from, beside)).transpose()?;
    Ok(Wording {
        ask: settings.ask.clone(),
        rubric: settings.rubric.clone(),
        library: library.clone(),
        length: settings.length,
        examples: examples.unwrap_or_default(),
    })
}

/// Examples of the training part of labelled data, parted as the judge's folder says where it is one.
fn examples(settings: &JudgeSettings, how: &ExamplesFrom, beside: &Path) -> Result<Examples, RunError> {
    let wrong = |why: &dyn std::fmt::Display| RunError::Annotator(format!("`examples`: {why}"));
    let path = beside.join(&how.from);
    let pairs = read_pairs(&path).map_err(|error| wrong(&error))?;
    let shares = match beside.join("library.toml").is_file() {
        true => JudgeFolder::open(beside).map_err(|error| wrong(&error))?.file.split,
        false => SplitShares::default(),
    };
    let train = Parted::of(&pairs, shares).train;
    let groups: BTreeSet<&str> = train.iter().map(|pair| pair.group.as_str()).collect();
    let mut graded = read_graded(&path).map_err(|error| wrong(&error))?;
    graded.retain(|one| groups.contains(one.group.as_str()));
    let (many, seed) = ((how.count, settings.length), Seed::root(settings.seed).child("examples", 0));
    Examples::draw(&settings.ask, (&train, &graded), many, &seed)
        .map_err(|why| wrong(&format!("{}: {why}", path.display())))
}
