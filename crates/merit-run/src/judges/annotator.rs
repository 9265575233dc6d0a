//! The annotator `judge`: what a judge says of each episode, as an annotation.

use super::open::OpenJudge;
use merit_api::annotator::{Annotator, AnnotatorSettings};
use merit_core::registry::{About, Component, Components, Refusal};
use merit_core::{Annotation, End, Episode, Evidence, Segment, Transcript};
use merit_evolve::Library;
use merit_judge::{Answer, Judge, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// A judge that gives every episode a number.
///
/// What it refuses, what cannot be read and what fails is no annotation: the term that asks for it fails by its type.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeAnnotator {
    /// The name of the annotation it gives.
    pub name: String,
    /// The judge's file, or the folder that holds its `judge.toml`.
    pub judge: PathBuf,
    /// Grade every turn too: the judge is asked about the episode as it was after each turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub per_turn: bool,
    /// What the judge's file may name: the same as the document that names it.
    #[serde(skip, default = "crate::components::lent")]
    pub components: Components,
}

impl Component for JudgeAnnotator {
    const ABOUT: About = About {
        name: "judge",
        summary: "A judge of a file of its own that is asked for a number of every episode: a model, or a panel of them.",
        paper: "",
    };
    const EXAMPLE: &'static str = "name = \"helpfulness\"\njudge = \"judges/helpful.toml\"\n";

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(!self.name.is_empty(), "name", "empty", "the name of the annotation it gives")?;
        let named = !self.judge.as_os_str().is_empty();
        Refusal::unless(named, "judge", "empty", "the file of a judge, or its folder")
    }
}

impl AnnotatorSettings for JudgeAnnotator {
    fn gives(&self) -> Vec<String> {
        vec![self.name.clone()]
    }

    fn speaks_of_turns(&self) -> bool {
        self.per_turn
    }

    fn build(&self) -> Result<Box<dyn Annotator>, String> {
        let judge = OpenJudge::open(&self.judge, &Library::default(), &self.components, None)
            .map_err(|error| error.to_string())?;
        if !judge.gives_numbers() {
            let file = self.judge.display();
            return Err(format!("{file}: the judge compares; an annotation needs `score` or `check` of it"));
        }
        Ok(Box::new(AtWork::new(self.name.clone(), judge.into_judge(), self.per_turn)))
    }
}

/// A judge that gives annotations.
pub(crate) struct AtWork {
    name: String,
    judge: Box<dyn Judge>,
    per_turn: bool,
}

impl AtWork {
    pub(crate) fn new(name: String, judge: Box<dyn Judge>, per_turn: bool) -> Self {
        Self { name, judge, per_turn }
    }
}

impl Annotator for AtWork {
    fn annotate(&mut self, episode: &Episode) -> Result<Vec<Annotation>, String> {
        let mut said = self.annotate_all(&[Arc::new(episode.clone())]);
        said.pop().unwrap_or_else(|| Err("nothing came of it".to_owned()))
    }

    fn annotate_all(&mut self, episodes: &[Arc<Episode>]) -> Vec<Result<Vec<Annotation>, String>> {
        let said = annotations(&self.name, &mut *self.judge, episodes, self.per_turn);
        said.into_iter().map(|said| said.map(|one| vec![one])).collect()
    }
}

/// What a judge says of each episode and, `per_turn`, of each turn: what it says of the episode as it was after the turn. The error is why
/// what it says of the whole is no number.
pub(crate) fn annotations(
    name: &str,
    judge: &mut dyn Judge,
    episodes: &[Arc<Episode>],
    per_turn: bool,
) -> Vec<Result<Annotation, String>> {
    let by = judge.id();
    let stages = |episode: &Arc<Episode>| {
        let before_the_last = episode.turns.len().saturating_sub(1) * usize::from(per_turn);
        (0..before_the_last).map(|turn| after(episode, turn)).chain([Arc::clone(episode)]).collect()
    };
    let stages: Vec<Vec<Arc<Episode>>> = episodes.iter().map(stages).collect();
    let mut answers = judge.score(&stages.concat()).into_iter();
    let one = |(episode, stages): (&Arc<Episode>, &Vec<Arc<Episode>>)| {
        let said: Vec<Answer> = answers.by_ref().take(stages.len()).collect();
        let of_turns = if per_turn { episode.turns.len() } else { 0 };
        annotation(name, &by, said, of_turns)
    };
    episodes.iter().zip(&stages).map(one).collect()
}

/// What a judge said of an episode, last of the whole, as an annotation that speaks of so many turns.
fn annotation(name: &str, by: &str, said: Vec<Answer>, of_turns: usize) -> Result<Annotation, String> {
    let whole = said.last().ok_or("nothing came of it")?;
    let value = whole.verdict.value().ok_or_else(|| silence(&whole.verdict))?;
    let turns: Vec<Option<f64>> = said.iter().take(of_turns).map(|answer| answer.verdict.value()).collect();
    let reason = |(turn, answer): (usize, &Answer)| {
        let why = match answer.verdict.value() {
            Some(_) => answer.evidence.clone(),
            None => silence(&answer.verdict),
        };
        let told = if turns.is_empty() { why.clone() } else { format!("turn {turn}: {why}") };
        (!why.is_empty()).then(|| Evidence::new("judge", told))
    };
    let evidence = said.iter().enumerate().filter_map(reason).collect();
    let cost = said.iter().map(|answer| answer.cost).sum();
    let (name, by) = (name.to_owned(), by.to_owned());
    Ok(Annotation { name, value, turns, evidence, by, version: String::new(), cost })
}

/// An episode as it was after a turn and the world's answer to it, before anybody knew how it would end.
fn after(episode: &Episode, turn: usize) -> Arc<Episode> {
    let mut said = 0;
    let segments = episode.transcript.segments().iter();
    let before = segments.take_while(|segment| {
        said += usize::from(segment.role.trainable());
        said <= turn + 1
    });
    let transcript = Transcript::try_from(before.cloned().collect::<Vec<Segment>>()).unwrap_or_default();
    let turns = episode.turns[..=turn].to_vec();
    Arc::new(Episode {
        transcript,
        turns,
        end: End::Unknown,
        bootstrap: None,
        state: None,
        ..episode.clone()
    })
}

fn silence(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Refused { why } | Verdict::Unreadable { why } | Verdict::Failed { why } => {
            format!("{}: {why}", verdict.word())
        }
        _ => "none of the items was said".to_owned(),
    }
}
