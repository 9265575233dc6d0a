//! How alike is a response to its references, by an embedder?

use super::SimilarityConfigError;
use super::roles::check_range;
use crate::text::Normalise;
use merit_core::embedder::{Embedder, EmbedderError, embedder, unit_vectors};
use merit_core::printable::beginning;
use merit_core::{Conclusion, Judgement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Length of the vectors of an embedder without a model.
const DIMENSIONS: usize = 4096;

/// Longest text that is compared, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// A check of likeness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LikenessConfig {
    /// The embedder's name.
    pub embedder: String,
    /// A cosine of at least this passes. Cosines of different embedders are not comparable: there is no default.
    pub pass_at: f64,
    /// A response of more characters is refused.
    #[serde(default = "thousand")]
    pub max_chars: usize,
}

fn thousand() -> usize {
    1000
}

/// What a check of likeness says. `Refused`: the response is empty or too long. The score is the best cosine, at least 0.
pub type LikenessVerdict = Judgement<LikenessDetail>;

/// Who compared what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LikenessDetail {
    /// What had to be reached.
    pub pass_at: f64,
    pub embedder: String,
    /// Position of the most alike reference.
    pub reference: Option<usize>,
    /// Beginnings of the response and of that reference.
    pub excerpts: (String, String),
}

/// Compares by an embedder.
#[derive(Clone)]
pub struct LikenessVerifier {
    config: LikenessConfig,
    embedder: Arc<dyn Embedder>,
}

impl LikenessVerifier {
    /// With an embedder that needs no model.
    pub fn compile(config: LikenessConfig) -> Result<Self, SimilarityConfigError> {
        let embedder = embedder(&config.embedder, DIMENSIONS, words)?;
        Self::with(config, Arc::from(embedder))
    }

    /// With an embedder made elsewhere. Its own name is recorded, not the config's.
    pub fn with(config: LikenessConfig, embedder: Arc<dyn Embedder>) -> Result<Self, SimilarityConfigError> {
        check_range("pass_at", config.pass_at, 0.0..=1.0, "from 0 to 1")?;
        check_range("max_chars", config.max_chars as f64, 1.0..=262_144.0, "from 1 to 262144")?;
        Ok(Self { config, embedder })
    }

    /// Compares one response with its references.
    pub fn verify<S: AsRef<str>>(&self, response: &str, references: &[S]) -> LikenessVerdict {
        let unmeasured = |conclusion| Judgement::unmeasured(conclusion, self.detail(None, response, ""));
        if let Some(why) = bad_reference(references) {
            return unmeasured(Conclusion::bad_reference(why));
        }
        if let Some(why) = self.refusal(response) {
            return unmeasured(Conclusion::refused(why));
        }
        match self.cosines(response, references) {
            Err(error) => unmeasured(Conclusion::grader_failed(error.to_string())),
            Ok(cosines) => {
                let mut best = (0, f64::NEG_INFINITY);
                for (at, cosine) in cosines.into_iter().enumerate() {
                    if cosine > best.1 {
                        best = (at, cosine);
                    }
                }
                let score = best.1.clamp(0.0, 1.0);
                let theirs = references.get(best.0).map_or("", AsRef::as_ref);
                let detail = self.detail(Some(best.0), response, theirs);
                Judgement::scored(score >= self.config.pass_at, score, detail)
            }
        }
    }

    fn detail(&self, reference: Option<usize>, ours: &str, theirs: &str) -> LikenessDetail {
        LikenessDetail {
            pass_at: self.config.pass_at,
            embedder: self.embedder.name().to_owned(),
            reference,
            excerpts: (beginning(ours, 80), beginning(theirs, 80)),
        }
    }

    fn refusal(&self, response: &str) -> Option<String> {
        if response.chars().nth(self.config.max_chars).is_some() {
            return Some(format!("the response has more than {} characters", self.config.max_chars));
        }
        response.trim().is_empty().then(|| "the response is empty".to_owned())
    }

    fn cosines<S: AsRef<str>>(&self, response: &str, references: &[S]) -> Result<Vec<f64>, EmbedderError> {
        let texts: Vec<&str> = [response].into_iter().chain(references.iter().map(AsRef::as_ref)).collect();
        if let Some(long) = texts.iter().find(|text| text.len() > MAX_BYTES) {
            let why = format!("a text of {} bytes is longer than {MAX_BYTES}", long.len());
            return Err(EmbedderError { name: self.embedder.name().to_owned(), why });
        }
        let vectors = unit_vectors(self.embedder.as_ref(), &texts)?;
        let Some((ours, theirs)) = vectors.split_first() else { return Ok(Vec::new()) };
        let dot =
            |theirs: &Vec<f32>| ours.iter().zip(theirs).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
        Ok(theirs.iter().map(dot).collect())
    }
}

/// The words of running text, normalised.
fn words(text: &str, each: &mut dyn FnMut(&str)) {
    Normalise::running_text().apply(text).split_whitespace().for_each(each);
}

fn bad_reference<S: AsRef<str>>(references: &[S]) -> Option<String> {
    if references.is_empty() {
        return Some("there is no reference".to_owned());
    }
    let blank = references.iter().position(|reference| reference.as_ref().trim().is_empty());
    blank.map(|at| format!("reference {at} is blank"))
}
