//! Says nothing of an episode in which something out of the policy's hands happened: it cannot be scored, and is left out.
//!
//! An episode without a score trains nothing, moves no baseline and enters no success rate. It falls out where `when` is at least
//! `at_least`; where `when` is not applicable nothing is known to have happened, and `then` is paid.

use crate::prelude::*;

/// Makes an episode unscorable where another part is high enough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Abstain {
    /// What decides: the name of a term (its raw value) or an expression.
    pub when: Condition,
    /// The episode falls out from this value on.
    pub at_least: f64,
    /// What is paid otherwise.
    pub then: Box<RewardConfig>,
}

impl Component for Abstain {
    const ABOUT: About = About {
        name: "abstain",
        summary: "Makes an episode unscorable where another part is high enough.",
        paper: "OpAgent (2026)",
    };
    const EXAMPLE: &'static str = r#"
when = { type = "info", key = "blocked" }
at_least = 1
then = { type = "exact-answer" }
"#;
}

impl Combinator for Abstain {
    fn children(&self) -> Vec<&RewardConfig> {
        self.when.children().into_iter().chain([&*self.then]).collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        Ok(Arc::new(AbstainNode {
            at_least: compiler.finite("at_least", self.at_least)?,
            when: compiler.condition(&self.when)?,
            then: compiler.part("then", &self.then)?,
        }))
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        let Some(range) = advice.deciding("when", &self.when) else { return };
        let lost_if_always = vec!["then".to_owned()];
        let threshold = Threshold::new("", "the abstention", range, Bound::AtLeast(self.at_least));
        advice.threshold(Threshold { lost_if_always, ..threshold });
    }
}

struct AbstainNode {
    when: Deciding,
    at_least: f64,
    then: Node,
}

impl Expression for AbstainNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        match self.when.evaluate(context, tracer) {
            Value::Number(value) if value >= self.at_least => {
                tracer.note(|| "it falls out".to_owned());
                Value::Unscorable(format!("{value} is at least {}", self.at_least))
            }
            Value::Number(_) | Value::NotApplicable(_) => {
                tracer.note(|| "it stays".to_owned());
                evaluate_as("then", self.then.as_ref(), context, tracer)
            }
            other => other,
        }
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        format!("abstain (from {} on)", self.at_least)
    }

    fn range(&self, terms: &[Range]) -> Range {
        self.then.range(terms)
    }
}
