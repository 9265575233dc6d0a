//! ReAgent-V's selector of frames: which eight of 96 a reader is shown.

use crate::chooser::{Choice, Chooser};
use crate::evidence::{Over, ecrs, largest, uniform};
use crate::worlds::frames::{ANSWERS, Video, WINDOW};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which frames the reader is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Selector {
    /// Frames at even distances.
    Uniform,
    /// Nearest to the query.
    Relevance,
    /// Relevance times entropy, in rounds, normalised over the frames that are left.
    Ecrs,
    /// The same, normalised over all frames.
    EcrsOverAll,
    /// The largest products, without rounds.
    Product,
    /// The frames that answer the question.
    Window,
}

/// A reader of a few frames of a symbolic video, fitted to what its selector shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReagentFrames {
    /// Which frames the reader is shown.
    pub selector: Selector,
    /// Frames that are kept.
    pub keep: usize,
    /// Frames of a video that repeat the query and show nothing else: up to so many.
    pub distractors: u64,
    /// Videos that the reader is fitted to.
    pub videos: usize,
    /// How often each is met.
    pub epochs: usize,
    /// Videos that it is measured on.
    pub evaluation: usize,
}

impl Default for ReagentFrames {
    fn default() -> Self {
        Self { selector: Selector::Ecrs, keep: 8, distractors: 12, videos: 400, epochs: 5, evaluation: 1000 }
    }
}

impl Component for ReagentFrames {
    const ABOUT: About = About {
        name: "reagent-frames",
        summary: "Which frames of a symbolic video a reader is shown: even, relevant, or relevant and rich.",
        paper: "ReAgent-V: A Reward-Driven Multi-Agent Framework for Video Understanding (2025), arXiv:2506.01300",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.keep >= WINDOW, "keep", self.keep, "at least 3, the frames that answer")?;
        Refusal::unless(self.distractors <= 60, "distractors", self.distractors, "at most 60")?;
        Refusal::unless(self.videos > 0, "videos", self.videos, "at least 1")?;
        Refusal::unless(self.evaluation > 0, "evaluation", self.evaluation, "at least 1")
    }
}

impl Study for ReagentFrames {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let videos = |name, many: usize| {
            let mut stream = seed.child(name, 0).stream();
            (0..many).map(|_| Video::draw(self.distractors, &mut stream)).collect::<Vec<_>>()
        };
        let mut stream = seed.child("reader", 0).stream();
        let reader = self.fitted(videos("training", self.videos), &mut stream, desk)?;
        let (mut right, mut found) = (0, 0);
        let tests = videos("test", self.evaluation);
        for (at, video) in tests.iter().enumerate() {
            let shown = self.select(video);
            let hit = reader.choose(asked(video, &shown), true, &mut stream).chosen == video.answer;
            right += usize::from(hit);
            desk.spend("frames", shown.len() as f64);
            found += shown.iter().filter(|at| (video.window..video.window + WINDOW).contains(at)).count();
            desk.paired("accuracy", at as u64, f64::from(hit));
        }
        let many = tests.len() as f64;
        desk.measure("accuracy", right as f64 / many);
        desk.measure("window_shown", found as f64 / (many * WINDOW as f64));
        desk.point("accuracy", right as f64 / many);
        Ok(())
    }
}

impl ReagentFrames {
    fn select(&self, video: &Video) -> Vec<usize> {
        let (s, h) = (video.relevance(), video.entropy());
        match self.selector {
            Selector::Uniform => uniform(video.frames.len(), self.keep),
            Selector::Relevance => largest(&s, self.keep),
            Selector::Ecrs => ecrs(&s, &h, self.keep, Over::Current),
            Selector::EcrsOverAll => ecrs(&s, &h, self.keep, Over::All),
            Selector::Product => {
                largest(&s.iter().zip(&h).map(|(s, h)| s * h).collect::<Vec<_>>(), self.keep)
            }
            Selector::Window => (video.window..video.window + WINDOW).collect(),
        }
    }

    /// A reader that imitates right answers to the frames its selector shows.
    fn fitted(
        &self,
        videos: Vec<Video>,
        stream: &mut Stream,
        desk: &mut Desk<'_>,
    ) -> Result<Chooser, StudyError> {
        let mut shown: Vec<Vec<Choice>> = videos
            .iter()
            .map(|video| vec![Choice { candidates: asked(video, &self.select(video)), chosen: video.answer }])
            .collect();
        let mut reader = Chooser::new(2 * COUNTS);
        for _ in 0..self.epochs {
            desk.left()?;
            stream.shuffle(&mut shown);
            for batch in shown.chunks(16) {
                let paths: Vec<(&[Choice], f64)> = batch.iter().map(|path| (path.as_slice(), 1.0)).collect();
                reader.climb(&paths, None, 0.5);
                desk.spend("updates", 1.0);
            }
        }
        Ok(reader)
    }
}

/// Counts that a reader tells apart: 0, 1, 2, and more.
const COUNTS: usize = 4;

/// The answers, each by how often it stands with both words of the query and with one in what is shown.
fn asked(video: &Video, shown: &[usize]) -> Vec<Vec<usize>> {
    let of = |answer: usize| {
        let [both, one] = video.seen_with(answer, shown);
        vec![both.min(COUNTS - 1), COUNTS + one.min(COUNTS - 1)]
    };
    (0..ANSWERS).map(of).collect()
}
