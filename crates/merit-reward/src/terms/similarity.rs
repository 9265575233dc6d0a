//! How alike the answer is to its references, by an embedder: a cosine from 0 to 1.
//!
//! The embedder is named; the one built in counts character n-grams and knows nothing of meaning, so it can be had by
//! copying words. Over-long and empty answers are worth 0. An embedder that cannot answer is the grader's failure.

use super::pay::Pay;
use super::reading::{Reading, Reference};
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Episode, Evidence};
use merit_verify::similarity::{LikenessConfig as Check, LikenessVerifier};

pub(crate) const SIMILARITY: Component = Component {
    about: About {
        name: "similarity",
        summary: "How alike the answer is to its references, by a named embedder.",
        paper: "",
    },
    example: r#"
type = "similarity"
pay = "pass"
check = { embedder = "hashed-ngrams", pass_at = 0.8, max_chars = 400 }
"#,
};

term_config! {
    /// `similarity`
    pub struct SimilarityConfig of SIMILARITY {
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
    }
}

impl TermConfig for SimilarityConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature::VERDICT
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        self.reading.check()?;
        self.reference.check()?;
        let verifier = LikenessVerifier::compile(self.check.clone());
        let verifier = verifier.map_err(|why| Problem::Setting(format!("`check`: {why}")))?;
        Ok(Box::new(Similarity { config: self.clone(), verifier }))
    }
}

struct Similarity {
    config: SimilarityConfig,
    verifier: LikenessVerifier,
}

impl Term for Similarity {
    fn look(&self, view: &View<'_>) -> Finding {
        self.judge(view.episode).unwrap_or_else(|finding| finding)
    }
}

impl Similarity {
    fn judge(&self, episode: &Episode) -> Result<Finding, Finding> {
        let from = &self.config.reference;
        let references = from.texts(episode).filter(|texts| !texts.is_empty());
        let references = references.ok_or_else(|| Finding::not_applicable(from.missing()))?;
        let text = self.config.reading.judged(episode)?;
        let verdict = self.verifier.verify(&text, &references);
        let (ours, theirs) = &verdict.excerpts;
        let score = verdict.score.unwrap_or_default();
        let asked = format!("`{}`: `{ours}` and `{theirs}` are alike by {score:.4}", verdict.embedder);
        Ok(Finding::judged(&verdict, self.config.pay, Evidence::new("asked", asked)))
    }
}
