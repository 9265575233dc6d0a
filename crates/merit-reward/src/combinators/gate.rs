//! Pays `then` only where `when` is at least `at_least`; otherwise `otherwise`, or 0 where there is none.
//!
//! Where `when` is not applicable there is nothing to decide by, and the gate is not applicable. The branch not taken is
//! not evaluated; its terms still stand in the score.

use crate::prelude::*;

/// Pays one part only where another is high enough; otherwise a third part, or 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// What decides: the name of a term (its raw value) or an expression.
    pub when: Condition,
    /// The gate is open from this value on.
    pub at_least: f64,
    /// What is paid where the gate is open.
    pub then: Box<RewardConfig>,
    /// What is paid where it is shut. Absent: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Box<RewardConfig>>,
}

impl Component for Gate {
    const ABOUT: About = About {
        name: "gate",
        summary: "Pays one part only where another is high enough; otherwise a third part, or 0.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
when = { type = "exact-answer" }
at_least = 1
then = { type = "tool-success", weight = 0.5 }
"#;
}

impl Combinator for Gate {
    fn children(&self) -> Vec<&RewardConfig> {
        let branches = [Some(&*self.then), self.otherwise.as_deref()];
        self.when.children().into_iter().chain(branches.into_iter().flatten()).collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        Ok(Arc::new(GateNode {
            at_least: compiler.finite("at_least", self.at_least)?,
            when: compiler.condition(&self.when)?,
            then: compiler.part("then", &self.then)?,
            otherwise: self.otherwise.as_ref().map(|c| compiler.part("otherwise", c)).transpose()?,
        }))
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        let Some(range) = advice.deciding("when", &self.when) else { return };
        advice.threshold(Threshold {
            gate: true,
            lost_if_never: vec!["then".to_owned()],
            lost_if_always: self.otherwise.iter().map(|_| "otherwise".to_owned()).collect(),
            ..Threshold::new("", "the gate", range, Bound::AtLeast(self.at_least))
        });
    }
}

struct GateNode {
    when: Deciding,
    at_least: f64,
    then: Node,
    otherwise: Option<Node>,
}

impl Expression for GateNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let when = match self.when.evaluate(context, tracer) {
            Value::Number(value) => value,
            other => return other,
        };
        let open = when >= self.at_least;
        tracer.note(|| if open { "it is open".to_owned() } else { "it is shut".to_owned() });
        if open {
            return evaluate_as("then", self.then.as_ref(), context, tracer);
        }
        match &self.otherwise {
            Some(otherwise) => evaluate_as("otherwise", otherwise.as_ref(), context, tracer),
            None => Value::Number(0.0),
        }
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        format!("gate (at least {})", self.at_least)
    }

    fn range(&self, terms: &[Range]) -> Range {
        let shut = self.otherwise.as_ref().map_or(Range::only(0.0), |part| part.range(terms));
        self.then.range(terms).hull(shut)
    }
}
