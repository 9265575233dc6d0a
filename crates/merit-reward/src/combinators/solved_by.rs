//! Says which term tells that the task was solved. The value is that of the part inside; outermost only.
//!
//! Without it the first `exact-answer` term tells, from the raw value 1 on; without either the score does not know.

use crate::compile::{Combinator, Compiler};
use crate::expression::Node;
use crate::term::one;
use crate::{Component, Problem, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};

pub(crate) const SOLVED_BY: Component = Component {
    about: About {
        name: "solved-by",
        summary: "Says which term tells that the task was solved; outermost only.",
        paper: "",
    },
    example: r#"
type = "solved-by"
term = "all-calls-work"
of = { type = "sum", of = [{ type = "tool-success", name = "all-calls-work" }, { type = "format" }] }
"#,
};

/// `solved-by`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolvedByConfig {
    /// The term, by name.
    pub term: String,
    /// Solved from this raw value on; 1 unless given.
    #[serde(default = "one")]
    pub at_least: f64,
    /// The reward itself.
    pub of: Box<RewardConfig>,
}

impl Combinator for SolvedByConfig {
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
}
