//! The control of every reward: its values dealt anew among the episodes of the batch. What is paid keeps its distribution and says
//! nothing of who earned it, so that whatever is still learned was not learned from the reward.

use crate::prelude::*;
use merit_core::Seed;

/// Deals the values of its part anew among the episodes of the batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shuffled {
    pub of: Box<RewardConfig>,
}

impl Component for Shuffled {
    const ABOUT: About = About {
        name: "shuffled",
        summary: "Deals the values of its part anew among the episodes of the batch: a control.",
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
        let batch = context.batch(self.slot);
        let numbers: Vec<(usize, f64)> =
            batch.iter().enumerate().filter_map(|(at, value)| Some((at, value.number()?))).collect();
        let Some(place) = numbers.iter().position(|(at, _)| *at == context.at) else { return own };
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        Seed::root(context.run.seed).child("shuffled", context.run.step).stream().shuffle(&mut order);
        let dealt = numbers[order[place]].1;
        tracer.note(|| format!("{} is dealt {dealt}", numbers[place].1));
        Value::Number(dealt)
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        "shuffled over the batch".to_owned()
    }

    fn range(&self, terms: &[Range]) -> Range {
        self.part.range(terms)
    }
}
