//! The share of the answer's claims that stand on the sources they cite.
//!
//! A claim stands where a source it cites supports it and its quotes are word for word; citing nothing, too much, or what
//! does not exist does not stand. An answer that claims nothing is worth 0. Support is measured by the entailer named; the
//! one that counts shared words is built in. A task without sources makes the term not applicable; where sources are what a
//! tool gave back, never asking it is the policy's doing and worth 0.

use super::pay::Pay;
use super::reading::{Reading, excerpt};
use super::sources::{Found, Sources};
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Episode, Evidence};
use merit_verify::similarity::{Entailer, entailer};
use merit_verify::text::{CitationConfig as Check, CitationVerdict, CitationVerifier, CitedStanding};

pub(crate) const CITATIONS: Component = Component {
    about: About {
        name: "citations",
        summary: "The share of claims that a source they cite supports.",
        paper: "EviNote-RAG: Enhancing RAG Models via Answer-Supportive Evidence Notes (2025), arXiv:2509.00877",
    },
    example: r#"
type = "citations"
sources = { tool = "search" }
entailer = "lexical"
check = { support_at = 0.6, max_cites = 2 }
"#,
};

term_config! {
    /// `citations`
    pub struct CitationsConfig of CITATIONS {
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
}

fn lexical() -> String {
    "lexical".to_owned()
}

impl TermConfig for CitationsConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature::VERDICT
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        self.reading.check()?;
        self.sources.check("sources")?;
        let entailer = entailer(&self.entailer).map_err(|why| Problem::Setting(why.to_string()))?;
        let verifier = CitationVerifier::compile(self.check.clone());
        let verifier = verifier.map_err(|why| Problem::Setting(format!("`check`: {why}")))?;
        Ok(Box::new(Citations { config: self.clone(), entailer, verifier }))
    }
}

struct Citations {
    config: CitationsConfig,
    entailer: Box<dyn Entailer>,
    verifier: CitationVerifier,
}

impl Term for Citations {
    fn look(&self, view: &View<'_>) -> Finding {
        self.judge(view.episode).unwrap_or_else(|finding| finding)
    }
}

impl Citations {
    fn judge(&self, episode: &Episode) -> Result<Finding, Finding> {
        let sources = match self.config.sources.of(episode) {
            Found::Sources(sources) => sources,
            Found::NoneAsked(why) => return Ok(Finding::value(0.0, Evidence::new("executed", why))),
            Found::Missing(why) => return Err(Finding::not_applicable(why)),
            Found::Bad(why) => return Err(Finding::broken(why)),
        };
        let text = self.config.reading.judged(episode)?;
        let verdict = self.verifier.verify_with(&text, &sources, self.entailer.as_ref());
        Ok(Finding::judged(&verdict, self.config.pay, Evidence::new("compared", standing(&verdict))))
    }
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
