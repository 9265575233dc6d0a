//! How alike is a response to its references, by an embedder?

use super::roles::check_range;
use super::{Embedder, RoleError, SimilarityConfigError, embedder};
use crate::text::words::excerpt;
use merit_core::{Conclusion, Judgement};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A check of likeness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Who compared.
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
    /// With an embedder of this crate.
    pub fn compile(config: LikenessConfig) -> Result<Self, SimilarityConfigError> {
        let embedder = embedder(&config.embedder)?;
        Self::with(config, Arc::from(embedder))
    }

    /// With an embedder made elsewhere; the config's name is only recorded.
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
            embedder: self.config.embedder.clone(),
            reference,
            excerpts: (excerpt(ours, 80), excerpt(theirs, 80)),
        }
    }

    fn refusal(&self, response: &str) -> Option<String> {
        if response.chars().nth(self.config.max_chars).is_some() {
            return Some(format!("the response has more than {} characters", self.config.max_chars));
        }
        response.trim().is_empty().then(|| "the response is empty".to_owned())
    }

    fn cosines<S: AsRef<str>>(&self, response: &str, references: &[S]) -> Result<Vec<f64>, RoleError> {
        let texts: Vec<&str> = [response].into_iter().chain(references.iter().map(AsRef::as_ref)).collect();
        let vectors = self.embedder.embed(&texts)?;
        let broken = |why: String| RoleError { role: "embedder", name: self.config.embedder.clone(), why };
        if vectors.len() != texts.len() {
            return Err(broken(format!("{} vectors for {} texts", vectors.len(), texts.len())));
        }
        let Some((ours, theirs)) = vectors.split_first() else { return Ok(Vec::new()) };
        let mut cosines = Vec::with_capacity(theirs.len());
        for vector in theirs {
            let cosine: f64 = ours.iter().zip(vector).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
            if vector.len() != ours.len() || !(-1.001..=1.001).contains(&cosine) {
                return Err(broken("vectors of different lengths, or not of norm 1".to_owned()));
            }
            cosines.push(cosine);
        }
        Ok(cosines)
    }
}

fn bad_reference<S: AsRef<str>>(references: &[S]) -> Option<String> {
    if references.is_empty() {
        return Some("there is no reference".to_owned());
    }
    let blank = references.iter().position(|reference| reference.as_ref().trim().is_empty());
    blank.map(|at| format!("reference {at} is blank"))
}
