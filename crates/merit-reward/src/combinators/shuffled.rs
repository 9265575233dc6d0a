//! The control of every reward: each episode is paid what an episode of the batch, drawn by chance, has earned. What is paid keeps its
//! distribution and says nothing of who earned it, so that whatever is still learned was not learned from the reward.

use crate::prelude::*;
use merit_core::Seed;

/// Pays each episode what an episode of the batch, drawn by chance, has earned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shuffled {
    /// The reward whose values are shuffled.
    pub of: Box<RewardConfig>,
}

impl Component for Shuffled {
    const ABOUT: About = About {
        name: "shuffled",
        summary: "Pays each episode what one of the batch, drawn by chance, has earned: a control.",
        paper: "",
    };
    const EXAMPLE: &'static str = "of = { type = \"exact-answer\" }";
}

impl Combinator for Shuffled {
    fn children(&self) -> Vec<&RewardConfig> {
        vec![&self.of]
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        compiler.whole_episodes("shuffled")?;
        let part = compiler.list("shuffled", std::slice::from_ref(&*self.of))?.remove(0);
        Ok(Arc::new(ShuffledNode { slot: compiler.slot(&part), part }))
    }
}

struct ShuffledNode {
    part: Node,
    slot: Slot,
}

impl Expression for ShuffledNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let own = evaluate(self.part.as_ref(), context, tracer);
        if own.number().is_none() {
            return own;
        }
        // Sorted, so that nothing depends on the order of the batch.
        let mut earned: Vec<f64> = context.batch(self.slot).iter().filter_map(Value::number).collect();
        earned.sort_by(f64::total_cmp);
        let seed = Seed::root(context.run.seed).child("shuffled", context.run.step);
        let drawn = seed.child(&context.episode.id.to_string(), 0).stream().pick(&earned).copied();
        let Some(drawn) = drawn else { return own };
        tracer.note(|| format!("is paid {drawn}"));
        Value::Number(drawn)
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        "shuffled over the batch".to_owned()
    }

    fn range(&self, terms: &[Range]) -> Range {
        self.part.range(terms)
    }
}
