//! How alike the answer is to its references, by an embedder: a cosine from 0 to 1.
//!
//! The embedder is named: `hashed-ngrams` counts character n-grams and knows nothing of meaning, so it can be had by copying
//! words; `encoder` is a model that reads for meaning. Over-long and empty answers are worth 0. An embedder that cannot answer
//! is the grader's failure.

use merit_encoder::ByMeaning;
use merit_reward::prelude::*;
use merit_verify::similarity::{LikenessConfig as Check, LikenessVerifier};
use schemars::JsonSchema;
use std::path::PathBuf;
use std::sync::Arc;

/// The name in `check.embedder` that asks for `model`.
const ENCODER: &str = "encoder";

/// How alike the answer is to its references, by a named embedder.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Similarity {
    /// Which text is compared.
    #[serde(default)]
    pub reading: Reading,
    /// What it is compared with; of several the most alike counts.
    #[serde(default)]
    pub reference: Reference,
    /// What of the verdict is the value.
    #[serde(default)]
    pub pay: Pay,
    /// Who compares, and what is alike enough.
    pub check: Check,
    /// The folder of the model behind the embedder `encoder`, as `sentence-transformers` keeps them. Absent: no model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<PathBuf>,
}

impl Component for Similarity {
    const ABOUT: About = About {
        name: "similarity",
        summary: "How alike the answer is to its references, by a named embedder.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
pay = "pass"
check = { embedder = "hashed-ngrams", pass_at = 0.8, max_chars = 400 }
"#;

    fn check(&self) -> Result<(), Refusal> {
        if (self.check.embedder == ENCODER) != self.model.is_some() {
            return Err(Refusal::new(
                "`model` and `check.embedder = \"encoder\"` go together; give both, or name an embedder without a model",
            ));
        }
        self.reading.check()?;
        self.reference.check()
    }
}

impl PreparedTerm for Similarity {
    type Prepared = LikenessVerifier;

    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn prepare(&self) -> Result<LikenessVerifier, Refusal> {
        let check = self.check.clone();
        let verifier = match &self.model {
            None => LikenessVerifier::compile(check),
            Some(folder) => {
                let encoder =
                    ByMeaning::open(folder).map_err(|why| Refusal::new(format!("`model`: {why}")))?;
                LikenessVerifier::with(check, Arc::new(encoder))
            }
        };
        verifier.map_err(|why| Refusal::new(format!("`check`: {why}")))
    }

    fn evaluate(
        &self,
        verifier: &LikenessVerifier,
        context: &EvalContext<'_>,
    ) -> Result<TermResult, TermResult> {
        let episode = context.episode;
        let from = &self.reference;
        let references = from.texts(episode).filter(|texts| !texts.is_empty());
        let references = references.ok_or_else(|| TermResult::not_applicable(from.missing()))?;
        let text = self.reading.judged(episode)?;
        let verdict = verifier.verify(&text, &references);
        let (ours, theirs) = &verdict.excerpts;
        let score = verdict.score.unwrap_or_default();
        let asked = format!("`{}`: `{ours}` and `{theirs}` are alike by {score:.4}", verdict.embedder);
        Ok(TermResult::judged(&verdict, self.pay, Evidence::new("asked", asked)))
    }
}
