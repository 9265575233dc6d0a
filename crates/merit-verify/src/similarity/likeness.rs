//! How alike is a response to its references, by an embedder?

use super::roles::check_range;
use super::{Embedder, RoleError, SimilarityConfigError, embedder};
use crate::text::words::excerpt;
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

/// What a check of likeness says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LikenessVerdict {
    /// What it came to.
    pub conclusion: LikenessConclusion,
    /// The best cosine, at least 0. Absent when nothing could be judged by no fault of the response.
    pub score: Option<f64>,
    /// What had to be reached.
    pub pass_at: f64,
    /// Who compared.
    pub embedder: String,
    /// Position of the most alike reference.
    pub reference: Option<usize>,
    /// Beginnings of the response and of that reference.
    pub excerpts: (String, String),
}

/// What a check of likeness came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum LikenessConclusion {
    /// Alike enough.
    Pass,
    /// Not alike enough.
    Fail,
    /// The response is empty or too long; it scores 0.
    Refused {
        /// Which.
        why: String,
    },
    /// There is no usable reference: the task is at fault.
    BadReference {
        /// Why.
        why: String,
    },
    /// The embedder failed: nobody knows.
    GraderFailed {
        /// What it said.
        why: String,
    },
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
        let unjudged = |conclusion, score| self.verdict(conclusion, score, None, response, "");
        if let Some(why) = bad_reference(references) {
            return unjudged(LikenessConclusion::BadReference { why }, None);
        }
        if let Some(why) = self.refusal(response) {
            return unjudged(LikenessConclusion::Refused { why }, Some(0.0));
        }
        match self.cosines(response, references) {
            Err(error) => unjudged(LikenessConclusion::GraderFailed { why: error.to_string() }, None),
            Ok(cosines) => {
                let mut best = (0, f64::NEG_INFINITY);
                for (at, cosine) in cosines.into_iter().enumerate() {
                    if cosine > best.1 {
                        best = (at, cosine);
                    }
                }
                let score = best.1.clamp(0.0, 1.0);
                let passed = score >= self.config.pass_at;
                let conclusion = if passed { LikenessConclusion::Pass } else { LikenessConclusion::Fail };
                let theirs = references.get(best.0).map_or("", AsRef::as_ref);
                self.verdict(conclusion, Some(score), Some(best.0), response, theirs)
            }
        }
    }

    fn verdict(
        &self,
        conclusion: LikenessConclusion,
        score: Option<f64>,
        reference: Option<usize>,
        ours: &str,
        theirs: &str,
    ) -> LikenessVerdict {
        LikenessVerdict {
            conclusion,
            score,
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
