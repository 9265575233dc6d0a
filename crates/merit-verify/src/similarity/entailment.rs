//! Does a note support what it should? A premise against hypotheses, by an entailer, with a guard against notes that just
//! repeat the hypothesis.
//!
//! The hypothesis should be built from the reference, never from the response's own answer: a note that supports whatever
//! the response claims is self-consistent nonsense.

use super::roles::check_range;
use super::{Entailer, SimilarityConfigError, entailer};
use crate::text::Normalise;
use crate::text::words::{is_stop_word, words};
use merit_core::printable::beginning;
use merit_core::{Conclusion, Judgement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;

/// A check of entailment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntailmentConfig {
    /// The entailer's name.
    pub entailer: String,
    /// A probability of at least this passes.
    #[serde(default = "half")]
    pub pass_at: f64,
    /// A note of more characters is refused. EviNote-RAG's scorer blanks texts of more than 512.
    #[serde(default = "default_chars")]
    pub max_chars: usize,
    /// A note is an echo when at least this share of its content words comes from the hypothesis, and not as many from
    /// one of the grounds.
    #[serde(default = "default_echo")]
    pub echo_at: f64,
    /// An echo scores 0; else it is only flagged.
    #[serde(default = "yes")]
    pub refuse_echo: bool,
}

fn half() -> f64 {
    0.5
}

fn default_chars() -> usize {
    512
}

fn default_echo() -> f64 {
    0.9
}

fn yes() -> bool {
    true
}

/// What a check of entailment says. `Refused`: the note is empty, too long or an echo. The score is the best probability.
pub type EntailmentVerdict = Judgement<EntailmentDetail>;

/// Who judged what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntailmentDetail {
    /// What had to be reached.
    pub pass_at: f64,
    pub entailer: String,
    /// Position of the hypothesis that fits best.
    pub hypothesis: Option<usize>,
    /// The note merely repeats that hypothesis.
    pub echo: bool,
    /// Share of the note's content words that occur in none of the grounds. Absent: no grounds were given.
    pub ungrounded_share: Option<f64>,
    /// Beginnings of the note and of that hypothesis.
    pub excerpts: (String, String),
}

/// Judges notes by an entailer.
#[derive(Clone)]
pub struct EntailmentVerifier {
    config: EntailmentConfig,
    entailer: Arc<dyn Entailer>,
}

impl EntailmentVerifier {
    /// With an entailer of this crate.
    pub fn compile(config: EntailmentConfig) -> Result<Self, SimilarityConfigError> {
        let entailer = entailer(&config.entailer)?;
        Self::with(config, Arc::from(entailer))
    }

    /// With an entailer made elsewhere; the config's name is only recorded.
    pub fn with(
        config: EntailmentConfig,
        entailer: Arc<dyn Entailer>,
    ) -> Result<Self, SimilarityConfigError> {
        check_range("pass_at", config.pass_at, 0.0..=1.0, "from 0 to 1")?;
        check_range("echo_at", config.echo_at, 0.0..=1.0, "from 0 to 1")?;
        check_range("max_chars", config.max_chars as f64, 1.0..=262_144.0, "from 1 to 262144")?;
        Ok(Self { config, entailer })
    }

    /// Judges one note against its hypotheses, one per alias of the reference; the best counts. `grounds` are the texts the
    /// note was taken from; empty when unknown.
    pub fn verify<S: AsRef<str>, G: AsRef<str>>(
        &self,
        note: &str,
        hypotheses: &[S],
        grounds: &[G],
    ) -> EntailmentVerdict {
        if hypotheses.is_empty() || hypotheses.iter().any(|h| content(h.as_ref()).is_empty()) {
            let why = "there is no hypothesis, or one without content";
            return self.unmeasured(note, Conclusion::bad_reference(why));
        }
        if let Some(why) = self.refusal(note) {
            return self.unmeasured(note, Conclusion::refused(why));
        }
        let pairs: Vec<(&str, &str)> = hypotheses.iter().map(|h| (note, h.as_ref())).collect();
        let judged = match self.entailer.entail(&pairs) {
            Ok(judged) => judged,
            Err(error) => return self.unmeasured(note, Conclusion::grader_failed(error.to_string())),
        };
        if judged.len() != pairs.len() || judged.iter().any(|p| !(0.0..=1.0).contains(p)) {
            let why = format!("{} values for {} pairs, or not all from 0 to 1", judged.len(), pairs.len());
            return self.unmeasured(note, Conclusion::grader_failed(why));
        }
        self.conclude(note, hypotheses, grounds, &judged)
    }

    fn conclude<S: AsRef<str>, G: AsRef<str>>(
        &self,
        note: &str,
        hypotheses: &[S],
        grounds: &[G],
        judged: &[f64],
    ) -> EntailmentVerdict {
        let mut best = (0, f64::NEG_INFINITY);
        for (at, p) in judged.iter().enumerate() {
            if *p > best.1 {
                best = (at, *p);
            }
        }
        let hypothesis = hypotheses.get(best.0).map_or("", AsRef::as_ref);
        let words = content(note);
        let echo = !self.is_from(&words, grounds) && self.is_from(&words, hypotheses);
        let (conclusion, score) = if echo && self.config.refuse_echo {
            (Conclusion::refused("the note merely repeats the hypothesis"), 0.0)
        } else {
            (Conclusion::of(best.1 >= self.config.pass_at), best.1)
        };
        let known: HashSet<String> = grounds.iter().flat_map(|ground| content(ground.as_ref())).collect();
        let detail = EntailmentDetail {
            hypothesis: Some(best.0),
            echo,
            ungrounded_share: (!grounds.is_empty()).then(|| 1.0 - share_in(&words, &known)),
            excerpts: (beginning(note, 80), beginning(hypothesis, 80)),
            ..self.blank(note)
        };
        Judgement { conclusion, score: Some(score), detail }
    }

    /// Whether one of `texts` has nearly all of `words`.
    fn is_from<T: AsRef<str>>(&self, words: &HashSet<String>, texts: &[T]) -> bool {
        texts.iter().any(|text| share_in(words, &content(text.as_ref())) >= self.config.echo_at)
    }

    fn refusal(&self, note: &str) -> Option<String> {
        if note.chars().nth(self.config.max_chars).is_some() {
            return Some(format!("the note has more than {} characters", self.config.max_chars));
        }
        content(note).is_empty().then(|| "the note has no content".to_owned())
    }

    fn unmeasured(&self, note: &str, conclusion: Conclusion) -> EntailmentVerdict {
        Judgement::unmeasured(conclusion, self.blank(note))
    }

    fn blank(&self, note: &str) -> EntailmentDetail {
        EntailmentDetail {
            pass_at: self.config.pass_at,
            entailer: self.config.entailer.clone(),
            hypothesis: None,
            echo: false,
            ungrounded_share: None,
            excerpts: (beginning(note, 80), String::new()),
        }
    }
}

/// The different words of content.
fn content(text: &str) -> HashSet<String> {
    let text = Normalise::running_text().apply(text);
    words(&text).filter(|word| !is_stop_word(word)).map(str::to_owned).collect()
}

fn share_in(words: &HashSet<String>, known: &HashSet<String>) -> f64 {
    let found = words.iter().filter(|word| known.contains(*word)).count();
    found as f64 / words.len().max(1) as f64
}
