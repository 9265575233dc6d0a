//! Says which term tells that the task was solved. The value is that of the part inside; outermost only.
//!
//! Without it the first term that solves ([`TermKind::solves`]: `exact-answer`, or one's own) tells, from the raw value 1 on; without
//! either the score does not know.

use crate::prelude::*;

/// Says which term tells that the task was solved; outermost only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SolvedBy {
    /// The name of the term that decides.
    pub term: String,
    /// Solved from this raw value on; 1 unless given.
    #[serde(default = "crate::term::one")]
    pub at_least: f64,
    /// The reward that is paid.
    pub of: Box<RewardConfig>,
}

impl Component for SolvedBy {
    const ABOUT: About = About {
        name: "solved-by",
        summary: "Says which term tells that the task was solved; outermost only.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
term = "all-calls-work"
of = { type = "sum", of = [{ type = "tool-success", name = "all-calls-work" }, { type = "format" }] }
"#;
}

impl Combinator for SolvedBy {
    fn children(&self) -> Vec<&RewardConfig> {
        vec![&self.of]
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        if !compiler.outermost() {
            return Err(compiler.error(Problem::SolvedByInside));
        }
        let at_least = compiler.finite("at_least", self.at_least)?;
        compiler.solved = Some((compiler.find(&self.term)?, at_least));
        compiler.part("of", &self.of)
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        advice.transparent();
        advice.solved_by(&self.term);
        let Some(range) = advice.raw(&self.term) else { return };
        let subject = format!("`{}`, which tells that a task was solved,", self.term);
        advice.threshold(Threshold::new("", subject, range, Bound::AtLeast(self.at_least)));
    }
}
