//! The share of the answer's claims that stand on the sources they cite.
//!
//! A claim stands where a source it cites supports it and its quotes are word for word; citing nothing, too much, or what
//! does not exist does not stand. An answer that claims nothing is worth 0. Support is measured by the entailer named; the
//! one that counts shared words is built in. A task without sources makes the term not applicable; where sources are what a
//! tool gave back, never asking it is the policy's doing and worth 0.

use crate::sources::{Found, Sources};
use merit_reward::prelude::*;
use merit_reward::terms::excerpt;
use merit_verify::similarity::{Entailer, entailer};
use merit_verify::text::{CitationConfig as Check, CitationVerdict, CitationVerifier, CitedStanding};
use schemars::JsonSchema;

/// The share of claims that a source they cite supports.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Citations {
    /// Which text is checked.
    #[serde(default)]
    pub reading: Reading,
    /// The texts that may be cited.
    pub sources: Sources,
    /// Who says whether a source supports a claim.
    #[serde(default = "lexical")]
    pub entailer: String,
    /// What of the verdict is the value.
    #[serde(default)]
    pub pay: Pay,
    /// What a citation looks like and must hold up to.
    #[serde(default)]
    pub check: Check,
}

impl Component for Citations {
    const ABOUT: About = About {
        name: "citations",
        summary: "The share of claims that a source they cite supports.",
        paper: "EviNote-RAG: Enhancing RAG Models via Answer-Supportive Evidence Notes (2025), arXiv:2509.00877",
    };
    const EXAMPLE: &'static str = r#"
sources = { tool = "search" }
entailer = "lexical"
check = { support_at = 0.6, max_cites = 2 }
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.reading.check()?;
        self.sources.check("sources")
    }
}

impl PreparedTerm for Citations {
    type Prepared = Prepared;

    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn prepare(&self) -> Result<Prepared, Refusal> {
        let entailer = entailer(&self.entailer).map_err(|why| Refusal::new(why.to_string()))?;
        let verifier = CitationVerifier::compile(self.check.clone());
        let verifier = verifier.map_err(|why| Refusal::new(format!("`check`: {why}")))?;
        Ok(Prepared { entailer, verifier })
    }

    fn evaluate(&self, with: &Prepared, context: &EvalContext<'_>) -> Result<TermResult, TermResult> {
        let episode = context.episode;
        let sources = match self.sources.of(episode) {
            Found::Sources(sources) => sources,
            Found::NoneAsked(why) => return Ok(TermResult::value(0.0, Evidence::new("executed", why))),
            Found::Missing(why) => return Err(TermResult::not_applicable(why)),
            Found::Bad(why) => return Err(TermResult::broken(why)),
        };
        let text = self.reading.judged(episode)?;
        let verdict = with.verifier.verify_with(&text, &sources, with.entailer.as_ref());
        Ok(TermResult::judged(&verdict, self.pay, Evidence::new("compared", standing(&verdict))))
    }
}

/// The verifier and whom it asks.
pub struct Prepared {
    entailer: Box<dyn Entailer>,
    verifier: CitationVerifier,
}

fn lexical() -> String {
    "lexical".to_owned()
}

/// How many claims stand, and the first that does not.
fn standing(verdict: &CitationVerdict) -> String {
    let falls = |s: &CitedStanding| !matches!(s, CitedStanding::Supported | CitedStanding::NoClaim);
    let stand = verdict.sentences.iter().filter(|s| s.standing == CitedStanding::Supported).count();
    let first = verdict.sentences.iter().find(|s| falls(&s.standing)).map_or_else(String::new, |s| {
        format!("; `{}` is {}", excerpt(&s.text), format!("{:?}", s.standing).to_lowercase())
    });
    format!("{stand} of {} claims stand{first}", verdict.claims)
}
