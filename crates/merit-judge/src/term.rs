//! What a judge of checks says of an episode, as a term of a reward. The version is pinned, so that a reward does not change when the
//! library goes on evolving.

use crate::checks::reward;
use crate::{FolderError, JudgeFolder};
use merit_core::Reward;
use merit_reward::prelude::*;
use std::path::Path;
use std::sync::OnceLock;

/// The terms of this crate.
pub static TERMS: &[merit_core::registry::Entry<dyn merit_reward::Term>] =
    &[entry!(JudgeTerm as dyn merit_reward::Term)];

/// Adds the terms of this crate.
#[must_use]
pub fn register(components: Components) -> Components {
    components.with_all(TERMS)
}

/// What the checks of a judge say of the episode.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeTerm {
    /// The judge's folder with the version that pays: `my-judge@12`.
    pub judge: String,
    /// Pays even where the judge does not beat what knows nothing of quality.
    #[serde(default)]
    pub force: bool,
    /// What the checks are made of: the same as the document that names the judge.
    #[serde(skip, default = "lent")]
    pub components: Components,
}

/// The components of the document that is being read. Those of merit where it lends none.
fn lent() -> Components {
    let lent = Components::lent();
    let none = lent.entries::<dyn merit_reward::Term>().is_empty();
    if none { register(merit_graders::components()) } else { lent }
}

impl JudgeTerm {
    fn parts(&self) -> Result<(&Path, usize), Refusal> {
        let parts =
            self.judge.rsplit_once('@').and_then(|(path, version)| Some((path, version.parse().ok()?)));
        let parts = parts.filter(|(path, _)| !path.is_empty());
        let why =
            format!("`judge` is `{}`; it must be a folder and a version, e.g. `my-judge@12`", self.judge);
        parts.map(|(path, version)| (Path::new(path), version)).ok_or_else(|| Refusal::new(why))
    }

    fn scorer(&self) -> Result<Scorer, Refusal> {
        let (path, version) = self.parts()?;
        let refused = |error: FolderError| Refusal::new(error.to_string());
        let folder = JudgeFolder::open(path).map_err(refused)?;
        let library = folder.library(version).map_err(refused)?;
        if !self.force {
            let last = folder.last_test().map_err(refused)?;
            let tested = last.filter(|(tested, _)| *tested == version).map(|(_, tested)| tested);
            let why =
                tested.map_or_else(|| Err(format!("version {version} was not tested")), |t| t.beats_leaks());
            why.map_err(|why| {
                Refusal::new(format!("`{}` may not pay: {why}; `force = true` lets it", self.judge))
            })?;
        }
        let checks = reward(&library, &self.components).map_err(|error| Refusal::new(error.to_string()))?;
        if asks_a_judge(&checks) {
            let why = format!(
                "a check of `{}` asks a judge itself, perhaps this one; take that check out",
                self.judge
            );
            return Err(Refusal::new(why));
        }
        Scorer::opened(&checks).map_err(|error| Refusal::new(error.to_string()))
    }
}

/// Whether some part of a reward is a judge, which might ask without an end.
fn asks_a_judge(reward: &RewardConfig) -> bool {
    reward.settings::<JudgeTerm>().is_some() || reward.children().into_iter().any(asks_a_judge)
}

impl Component for JudgeTerm {
    const ABOUT: About = About {
        name: "judge",
        summary: "What the checks of a judge say, at a version; made by `merit evolve`.",
        paper: "RewardHarness: Self-Evolving Agentic Post-Training (2026), arXiv:2605.08703",
    };
    const EXAMPLE: &'static str = "judge = \"my-judge@12\"\n";

    fn check(&self) -> Result<(), Refusal> {
        self.parts().map(drop)
    }
}

impl PreparedTerm for JudgeTerm {
    type Prepared = OnceLock<Result<Scorer, Refusal>>;

    fn kind(&self) -> TermKind {
        TermKind { judges: true, ..TermKind::NUMBER }
    }

    fn prepare(&self) -> Result<Self::Prepared, Refusal> {
        Ok(OnceLock::new())
    }

    fn open(&self, prepared: &Self::Prepared) -> Result<(), Refusal> {
        prepared.get_or_init(|| self.scorer()).as_ref().map(drop).map_err(Clone::clone)
    }

    fn evaluate(
        &self,
        prepared: &Self::Prepared,
        context: &EvalContext<'_>,
    ) -> Result<TermResult, TermResult> {
        let scorer = prepared.get_or_init(|| self.scorer());
        let scorer = scorer.as_ref().map_err(|refusal| TermResult::broken(refusal.why.clone()))?;
        let score = scorer.score(context.episode, context.run);
        let said =
            score.terms.iter().filter_map(|term| Some(format!("{} {:.3}", term.name, term.outcome.value()?)));
        let evidence = Evidence::new("asked", said.collect::<Vec<_>>().join(", "));
        match score.reward {
            Reward::Value { value } => Ok(TermResult::value(value, evidence)),
            Reward::GraderFailed { why } => Err(TermResult::broken(why)),
            Reward::Unscorable { why } => Err(TermResult::not_applicable(why)),
        }
    }
}
