//! Replaces `then` by `value` where `when` is out of bounds.
//!
//! Exactly one of `below`, `at_most`, `above`, `at_least` says which values veto. A veto needs evidence: where `when` is
//! not applicable nothing is vetoed.

use crate::prelude::*;

/// Replaces a part by a fixed value where another is out of bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Veto {
    /// What decides: the name of a term (its raw value) or an expression.
    pub when: Condition,
    /// Values below this veto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// Values of at most this veto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Values above this veto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// Values of at least this veto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// What is paid instead.
    pub value: f64,
    /// What is paid where nothing is vetoed.
    pub then: Box<RewardConfig>,
}

impl Veto {
    /// The bounds that are given, with their keys; exactly one makes sense.
    fn bounds(&self) -> Vec<(&'static str, Bound)> {
        let given = [
            self.below.map(|b| ("below", Bound::Below(b))),
            self.at_most.map(|b| ("at_most", Bound::AtMost(b))),
            self.above.map(|b| ("above", Bound::Above(b))),
            self.at_least.map(|b| ("at_least", Bound::AtLeast(b))),
        ];
        given.into_iter().flatten().collect()
    }

    fn bound(&self, compiler: &Compiler) -> Result<Bound, RewardError> {
        let bounds = self.bounds();
        let [(field, bound)] = bounds[..] else {
            return Err(compiler.error(Problem::Threshold { given: bounds.len() }));
        };
        let (Bound::AtLeast(value) | Bound::Above(value) | Bound::AtMost(value) | Bound::Below(value)) =
            bound;
        compiler.finite(field, value).map(|_| bound)
    }
}

impl Component for Veto {
    const ABOUT: About = About {
        name: "veto",
        summary: "Replaces a part by a fixed value where another is out of bounds.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
when = { type = "format" }
below = 0.5
value = -1.0
then = { type = "exact-answer" }
"#;
}

impl Combinator for Veto {
    fn children(&self) -> Vec<&RewardConfig> {
        self.when.children().into_iter().chain([&*self.then]).collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        Ok(Arc::new(VetoNode {
            bound: self.bound(compiler)?,
            value: compiler.finite("value", self.value)?,
            when: compiler.condition(&self.when)?,
            then: compiler.part("then", &self.then)?,
        }))
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        let (Some(range), [(_, bound)]) = (advice.deciding("when", &self.when), &self.bounds()[..]) else {
            return;
        };
        let lost_if_always = vec!["then".to_owned()];
        let threshold = Threshold::new("", "the veto", range, *bound);
        advice.threshold(Threshold { vetoes: true, lost_if_always, ..threshold });
    }
}

struct VetoNode {
    when: Deciding,
    bound: Bound,
    value: f64,
    then: Node,
}

impl Expression for VetoNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        match self.when.evaluate(context, tracer) {
            Value::Number(value) if self.bound.holds(value) => {
                tracer.note(|| "it falls".to_owned());
                Value::Number(self.value)
            }
            Value::Number(_) | Value::NotApplicable(_) => {
                tracer.note(|| "it does not fall".to_owned());
                evaluate_as("then", self.then.as_ref(), context, tracer)
            }
            other => other,
        }
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        format!("veto ({})", self.bound)
    }

    fn range(&self, terms: &[Range]) -> Range {
        self.then.range(terms).hull(Range::only(self.value))
    }
}
