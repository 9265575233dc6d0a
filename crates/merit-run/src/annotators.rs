//! Asking before scoring: the annotators of a recipe, and the one that comes with merit, a program of any language.

use crate::judges::JudgeAnnotator;
use crate::policy::SharedModel;
use merit_api::annotator::{Annotator, AnnotatorSettings};
use merit_command::{Channel, Limits};
use merit_core::registry::{About, Chosen, Component, Components, Entry, Refusal};
use merit_core::{Annotation, Annotations, Cost, End, Episode, EpisodeId, Evidence, Phase, TokenId, entry};
use merit_store::{RunFolder, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The annotators that come with merit.
pub static ANNOTATORS: &[Entry<dyn AnnotatorSettings>] =
    &[entry!(Program as dyn AnnotatorSettings), entry!(JudgeAnnotator as dyn AnnotatorSettings)];

/// Adds every annotator of this crate.
pub(crate) fn register(components: Components) -> Components {
    components.with_all(ANNOTATORS)
}

/// A program of any language that is asked about every episode, in JSON lines.
///
/// It is sent `{"id": 1, "episode": {…}}` and answers `{"id": 1, "value": 0.5}`, with `"turns": [0.5, null]` where it speaks of turns
/// and `"evidence": "…"` where it has reasons, or `{"id": 1, "error": "why"}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The name of the annotation it gives.
    pub name: String,
    /// The program and its arguments; no shell reads them.
    pub command: Vec<String>,
    /// Its version, kept with everything it says.
    #[serde(default)]
    pub version: String,
    /// Seconds for an answer.
    #[serde(default = "ten")]
    pub timeout_s: f64,
}

fn ten() -> f64 {
    10.0
}

impl Component for Program {
    const ABOUT: About = About {
        name: "command",
        summary: "A program of any language that is asked about every episode, in JSON lines.",
        paper: "",
    };
    const EXAMPLE: &'static str = "name = \"helpfulness\"\ncommand = [\"python3\", \"judge.py\"]\n";

    fn check(&self) -> Result<(), Refusal> {
        if self.command.first().is_none_or(String::is_empty) {
            return Err(Refusal::new("`command` is empty; give a program and its arguments"));
        }
        Refusal::unless(!self.name.is_empty(), "name", "empty", "the name of the annotation it gives")?;
        let fine = self.timeout_s > 0.0 && self.timeout_s <= 86_400.0;
        Refusal::unless(fine, "timeout_s", self.timeout_s, "above 0 and at most a day, 86400")
    }
}

impl AnnotatorSettings for Program {
    fn gives(&self) -> Vec<String> {
        vec![self.name.clone()]
    }

    fn build(&self) -> Result<Box<dyn Annotator>, String> {
        let limits = Limits { answer: Duration::from_secs_f64(self.timeout_s), ..Limits::default() };
        Ok(Box::new(Asked { channel: Channel::new(self.command.clone(), limits), settings: self.clone() }))
    }
}

struct Asked {
    settings: Program,
    channel: Channel,
}

/// What the program answers.
#[derive(Deserialize)]
struct Answer {
    value: Option<f64>,
    #[serde(default)]
    turns: Vec<Option<f64>>,
    #[serde(default)]
    evidence: Option<String>,
    #[serde(default)]
    error: Option<String>,
}

impl Annotator for Asked {
    fn annotate(&mut self, episode: &Episode) -> Result<Vec<Annotation>, String> {
        let answer = self.channel.request(json!({ "episode": episode })).map_err(|e| e.to_string())?;
        let answer: Answer = serde_json::from_value(answer.into()).map_err(|e| e.to_string())?;
        if let Some(why) = answer.error {
            return Err(why);
        }
        let value = answer.value.filter(|value| value.is_finite()).ok_or("it gave no finite `value`")?;
        Ok(vec![Annotation {
            name: self.settings.name.clone(),
            value,
            turns: answer.turns,
            evidence: answer.evidence.map(|why| Evidence::new("asked", why)).into_iter().collect(),
            by: self.settings.command.join(" "),
            version: self.settings.version.clone(),
            cost: Cost { judge_calls: 1, ..Cost::default() },
        }])
    }
}

/// What a recipe itself has that says how good an episode is: a model that was fitted, a judge that was evolved.
pub(crate) trait Speaker: Send + Sync {
    /// What it says of each episode, in order.
    fn says(&self, name: &str, episodes: &[Arc<Episode>]) -> Result<Vec<Spoken>, String>;

    /// Whether it is asked again in a step that is done again, though what it said is on record: because it counts what it pays.
    fn counts(&self) -> bool {
        false
    }
}

/// What is said of one episode; absent where there is nothing to say. The error is why it could not be said.
pub(crate) type Spoken = Result<Option<Annotation>, String>;

/// Speakers by the name of the annotation they give.
pub(crate) type Speakers = BTreeMap<String, Arc<dyn Speaker>>;

impl Speaker for SharedModel {
    fn says(&self, name: &str, episodes: &[Arc<Episode>]) -> Result<Vec<Spoken>, String> {
        let tokens: Vec<Vec<TokenId>> = episodes.iter().map(|episode| episode.transcript.tokens()).collect();
        let mut model = self.lock();
        let scores = model.score(&tokens.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let annotation = |value| {
            Ok(Some(Annotation {
                name: name.to_owned(),
                value,
                turns: Vec::new(),
                evidence: Vec::new(),
                by: format!("model {name}"),
                version: model.updates.to_string(),
                cost: Cost { judge_calls: 1, ..Cost::default() },
            }))
        };
        Ok(scores.map_err(|error| error.to_string())?.into_iter().map(annotation).collect())
    }
}

/// Annotators, and judges of the recipe whose model is elsewhere.
type AtWork = Vec<Box<dyn Annotator>>;

/// The annotators of an arm, at work.
pub(crate) struct Annotators {
    at_work: Mutex<AtWork>,
    /// Those that the credit rule alone reads, and who are asked only of what is learned from.
    steering: Mutex<AtWork>,
    /// The names of all annotations that the credit rule alone reads.
    steered_by: BTreeSet<String>,
    /// Models and judges of the recipe that the reward asks, by name.
    speakers: Mutex<Speakers>,
    /// What was said when the step under way was done before, in a run that was ended and goes on.
    recalled: Mutex<Annotations>,
    /// Why one of them last could not say anything.
    failure: Mutex<Option<String>>,
}

impl Annotators {
    /// Those of a recipe, and the judges of it whose model is elsewhere: for the reward, and for the credit rule alone, which reads these
    /// names.
    pub(crate) fn build(
        settings: &[Chosen<dyn AnnotatorSettings>],
        (judges, steering): (AtWork, AtWork),
        steered_by: BTreeSet<String>,
    ) -> Result<Self, String> {
        let built: Result<Vec<_>, String> = settings
            .iter()
            .map(|one| one.build().map_err(|why| format!("annotator `{}`: {why}", one.about().name)))
            .collect();
        let (speakers, recalled) = (Mutex::default(), Mutex::default());
        let at_work = Mutex::new(built?.into_iter().chain(judges).collect());
        let steering = Mutex::new(steering);
        Ok(Self { at_work, steering, steered_by, speakers, recalled, failure: Mutex::new(None) })
    }

    /// Sets the speakers that are asked beside the annotators; those set before are dropped.
    pub(crate) fn employ(&self, speakers: Speakers) {
        *self.speakers.lock().unwrap_or_else(PoisonError::into_inner) = speakers;
    }

    /// Takes up what was recorded of a step, so that no question is asked again, also none that had no answer.
    pub(crate) fn recall(&self, folder: &RunFolder, phase: &Phase, step: u64) -> Result<(), StoreError> {
        if self.any_at_work() {
            let mut recorded = folder.annotations_of(phase, step)?;
            recorded.extend(of_probes(folder, phase, step)?);
            *self.recalled.lock().unwrap_or_else(PoisonError::into_inner) = recorded;
        }
        Ok(())
    }

    /// Keeps what was said of probes of a step. They are in no record of their own, but they decide what the step plays and learns,
    /// so a run that goes on must hear the same again.
    pub(crate) fn keep_of_probes(
        &self,
        folder: &RunFolder,
        (phase, step): (&Phase, u64),
        said: &Annotations,
    ) -> Result<(), StoreError> {
        if said.is_empty() || !self.any_at_work() {
            return Ok(());
        }
        let mut kept = of_probes(folder, phase, step)?;
        kept.retain(|(id, _)| !said.contains_key(id));
        kept.extend(said.iter().map(|(id, said)| (id.clone(), said.clone())));
        folder.set_mark(&probes_mark(phase, step), &kept)
    }

    fn any_at_work(&self) -> bool {
        let any = |some: &Mutex<AtWork>| !some.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        any(&self.at_work) || any(&self.steering)
    }

    /// What they say of the episodes that did not break, as far as the reward reads it. What one could not say is absent.
    pub(crate) fn ask(&self, episodes: &[Arc<Episode>]) -> Annotations {
        self.ask_those(episodes, false)
    }

    /// The same of episodes that are learned from: with what the credit rule reads.
    pub(crate) fn ask_to_learn(&self, episodes: &[Arc<Episode>]) -> Annotations {
        self.ask_those(episodes, true)
    }

    fn ask_those(&self, episodes: &[Arc<Episode>], to_learn: bool) -> Annotations {
        let mut asked = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        let mut steering = self.steering.lock().unwrap_or_else(PoisonError::into_inner);
        let mut asked: Vec<&mut Box<dyn Annotator>> =
            asked.iter_mut().chain(steering.iter_mut().filter(|_| to_learn)).collect();
        let speakers = self.speakers.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = |(name, _): &(&String, _)| to_learn || !self.steered_by.contains(*name);
        let speakers: BTreeMap<&String, &Arc<dyn Speaker>> = speakers.iter().filter(wanted).collect();
        let mut all = Annotations::new();
        if asked.is_empty() && speakers.is_empty() {
            return all;
        }
        let mut recalled = self.recalled.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fresh = Vec::new();
        for episode in episodes.iter().filter(|episode| !matches!(episode.end, End::Failed { .. })) {
            match recalled.remove(&episode.id) {
                Some(mut said) => {
                    said.retain(|one| !speakers.get(&one.name).is_some_and(|speaker| speaker.counts()));
                    all.insert(episode.id.clone(), said);
                }
                None => {
                    all.insert(episode.id.clone(), Vec::new());
                    fresh.push(Arc::clone(episode));
                }
            }
        }
        for one in &mut asked {
            for (episode, said) in fresh.iter().zip(one.annotate_all(&fresh)) {
                match said.and_then(|said| sound(said, episode)) {
                    Ok(annotations) => all.entry(episode.id.clone()).or_default().extend(annotations),
                    Err(why) => self.failed(unsaid(episode, &why)),
                }
            }
        }
        for (name, speaker) in speakers {
            self.ask_speaker(name, &**speaker, episodes, &mut all);
        }
        all
    }

    /// What a model or judge of the recipe says of the episodes that others were asked about, unless it has said so before.
    fn ask_speaker(
        &self,
        name: &str,
        speaker: &dyn Speaker,
        episodes: &[Arc<Episode>],
        all: &mut Annotations,
    ) {
        let new = |said: &Vec<Annotation>| !said.iter().any(|annotation| annotation.name == name);
        let asked = episodes.iter().filter(|episode| all.get(&episode.id).is_some_and(new));
        let asked: Vec<Arc<Episode>> = asked.map(Arc::clone).collect();
        match speaker.says(name, &asked) {
            Ok(said) => {
                for (episode, said) in asked.iter().zip(said) {
                    match said {
                        Ok(annotation) => all.entry(episode.id.clone()).or_default().extend(annotation),
                        Err(why) => self.failed(unsaid(episode, &why)),
                    }
                }
            }
            Err(why) => self.failed(format!("`{name}` could not say anything: {why}")),
        }
    }
}

/// What was said of an episode, where it fits it. The error is why it does not.
fn sound(said: Vec<Annotation>, episode: &Episode) -> Result<Vec<Annotation>, String> {
    let turns = episode.turns.len();
    for Annotation { name, value, turns: of_turns, .. } in &said {
        if !of_turns.is_empty() && of_turns.len() != turns {
            return Err(format!("`{name}` speaks of {} turns, and there are {turns}", of_turns.len()));
        }
        if !of_turns.iter().flatten().chain([value]).all(|value| value.is_finite()) {
            return Err(format!("`{name}` is not finite"));
        }
    }
    Ok(said)
}

fn unsaid(episode: &Episode, why: &str) -> String {
    format!("nothing was said of episode {}: {why}", episode.id)
}

impl Annotators {
    fn failed(&self, why: String) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    /// Why one of them could not say anything since this was last asked.
    pub(crate) fn take_failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn probes_mark(phase: &Phase, step: u64) -> String {
    format!("said of probes: {phase} {step}")
}

/// What was said of the probes of a step.
fn of_probes(
    folder: &RunFolder,
    phase: &Phase,
    step: u64,
) -> Result<Vec<(EpisodeId, Vec<Annotation>)>, StoreError> {
    Ok(folder.mark(&probes_mark(phase, step))?.unwrap_or_default())
}

pub(crate) fn cost(annotations: &Annotations) -> Cost {
    annotations.values().flatten().map(|annotation| annotation.cost).sum()
}
