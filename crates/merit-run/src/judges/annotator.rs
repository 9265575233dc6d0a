//! The annotator `judge`: what a judge says of each episode, as an annotation.

use super::open::OpenJudge;
use merit_api::annotator::{Annotator, AnnotatorSettings};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Annotation, Episode, Evidence};
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

    fn build(&self) -> Result<Box<dyn Annotator>, String> {
        let judge =
            OpenJudge::open(&self.judge, &Library::default(), None).map_err(|error| error.to_string())?;
        if !judge.gives_numbers() {
            let file = self.judge.display();
            return Err(format!("{file}: the judge compares; an annotation needs `score` or `check` of it"));
        }
        Ok(Box::new(AtWork::new(self.name.clone(), judge.into_judge())))
    }
}

/// A judge that gives annotations.
pub(crate) struct AtWork {
    name: String,
    judge: Box<dyn Judge>,
}

impl AtWork {
    pub(crate) fn new(name: String, judge: Box<dyn Judge>) -> Self {
        Self { name, judge }
    }
}

impl Annotator for AtWork {
    fn annotate(&mut self, episode: &Episode) -> Result<Vec<Annotation>, String> {
        let mut said = self.annotate_all(&[Arc::new(episode.clone())]);
        said.pop().unwrap_or_else(|| Err("nothing came of it".to_owned()))
    }

    fn annotate_all(&mut self, episodes: &[Arc<Episode>]) -> Vec<Result<Vec<Annotation>, String>> {
        let by = self.judge.id();
        let one = |answer: Answer| Ok(vec![annotation(&self.name, &by, answer)?]);
        self.judge.score(episodes).into_iter().map(one).collect()
    }
}

/// What a judge said of an episode, as an annotation. The error is why it is no number.
pub(crate) fn annotation(name: &str, by: &str, answer: Answer) -> Result<Annotation, String> {
    let value = answer.verdict.value().ok_or_else(|| silence(&answer.verdict))?;
    let evidence = (!answer.evidence.is_empty()).then(|| Evidence::new("judge", answer.evidence));
    Ok(Annotation {
        name: name.to_owned(),
        value,
        turns: Vec::new(),
        evidence: evidence.into_iter().collect(),
        by: by.to_owned(),
        version: String::new(),
        cost: answer.cost,
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
