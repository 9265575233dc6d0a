//! A list of yes/no items with weights, dependencies and required items (CM2):
//!
//!   R = Σ_i w_i · pass_i / Σ_i w_i
//!
//! An item passes where its check is at least `at_least`, every item it needs passes, and no required item before it in the
//! list failed. The divisor is the whole list, also what was never reached, so that an episode stopped early does not look
//! better than it was. An item tied to a turn is judged at that turn; where the episode never got there it fails.

use super::checklist_order::order;
use crate::prelude::*;

/// The weighted share of items that pass, with dependencies, required items and items tied to a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checklist {
    /// The items, in the order in which they are judged; at least one.
    pub items: Vec<ItemConfig>,
    /// When passing is paid.
    #[serde(default)]
    pub payout: Payout,
    /// What a required item that fails does.
    #[serde(default)]
    pub on_required_failure: RequiredFailure,
    /// What a check that does not apply means.
    #[serde(default)]
    pub on_not_applicable: ItemSilence,
}

/// An item of `checklist`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemConfig {
    /// What it asks, in words; no two alike.
    pub name: String,
    /// What decides: the name of a term (its raw value) or an expression.
    pub check: Condition,
    /// The check holds from this value on; 1 unless given.
    #[serde(default = "crate::term::one")]
    pub at_least: f64,
    /// Its share of the whole, relative to the others; above 0.
    #[serde(default = "crate::term::one")]
    pub weight: f64,
    /// The items that must pass for this one to count, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// Where it fails, nothing after it in the list counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// The turn it is judged at, from 0. Absent: the whole episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
}

/// When items are paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Payout {
    /// All at the end: graded finely, paid coarsely, the most robust to a noisy check.
    #[default]
    Trajectory,
    /// An item tied to a turn at that turn, the others at the end.
    Turn,
}

/// What a required item that fails does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequiredFailure {
    /// What passed before it counts, nothing after it does.
    #[default]
    Stop,
    /// The whole list is worth 0.
    Zero,
}

/// What a check that does not apply means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ItemSilence {
    /// The item fails: not doing a thing is no way around being judged on it.
    #[default]
    Fail,
    /// The item is left out of both sums, and holds nothing up.
    LeaveOut,
}

impl Component for Checklist {
    const ABOUT: About = About {
        name: "checklist",
        summary: "The weighted share of items that pass, with dependencies, required items and items tied to a turn.",
        paper: "CM2: Reinforcement Learning with Checklist Rewards for Multi-Turn and Multi-Step Agentic Tool Use (2026)",
    };
    const EXAMPLE: &'static str = r#"
payout = "turn"
items = [
  { name = "opens with a call that works", check = { type = "tool-success" }, turn = 0, required = true },
  { name = "is well formed", check = { type = "format" }, at_least = 0.9 },
  { name = "answers", check = { type = "exact-answer" }, weight = 3.0, needs = ["is well formed"] },
]
"#;
}

impl Combinator for Checklist {
    fn children(&self) -> Vec<&RewardConfig> {
        self.items.iter().filter_map(|item| item.check.children()).collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        if self.items.is_empty() {
            return Err(
                compiler.error(Problem::Setting("`checklist` has no `items`; list at least one".into()))
            );
        }
        if self.items.iter().any(|item| item.turn.is_some()) {
            compiler.whole_episodes("checklist")?;
        }
        let order = order(&self.items).map_err(|problem| compiler.error(problem))?;
        let items = self.items.iter().enumerate().map(|(i, item)| item.compile(i, &self.items, compiler));
        let items = items.collect::<Result<Vec<Item>, RewardError>>()?;
        Ok(Arc::new(ChecklistNode { items, order, config: self.clone() }))
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        for (i, item) in self.items.iter().enumerate() {
            advice.adds_width(&format!("items[{i}]"), item.weight);
            let Some(range) = advice.deciding(&format!("items[{i}].check"), &item.check) else { continue };
            let waits = |other: &ItemConfig| other.needs.contains(&item.name);
            let later = self.items.iter().enumerate();
            let later = later.filter(|(j, other)| waits(other) || (item.required && *j > i));
            let lost_if_never = later.map(|(j, _)| format!("items[{j}]")).collect();
            let subject = format!("item `{}`", item.name);
            let threshold =
                Threshold::new(format!("items[{i}]"), subject, range, Bound::AtLeast(item.at_least));
            advice.threshold(Threshold { lost_if_never, ..threshold });
        }
    }
}

impl ItemConfig {
    fn compile(&self, i: usize, items: &[Self], compiler: &mut Compiler) -> Result<Item, RewardError> {
        compiler.finite("at_least", self.at_least)?;
        if compiler.finite("weight", self.weight)? <= 0.0 {
            return Err(compiler.error(Problem::NotPositive { field: "weight", value: self.weight }));
        }
        let place = format!("items[{i}].check");
        let check = match (&self.check, self.turn) {
            (Condition::Term(name), _) => Deciding::Term(compiler.find(name)?),
            (Condition::Expression(config), None) => Deciding::Expression(compiler.part(place, config)?),
            (Condition::Expression(config), Some(_)) => {
                Deciding::Expression(compiler.part_by_turn(place, config)?)
            }
        };
        // `order` has found every name.
        let needs = items.iter().enumerate().filter(|(_, other)| self.needs.contains(&other.name));
        Ok(Item { check, needs: needs.map(|(at, _)| at).collect() })
    }
}

struct Item {
    check: Deciding,
    needs: Vec<usize>,
}

struct ChecklistNode {
    items: Vec<Item>,
    /// Every item after those it waits for.
    order: Vec<usize>,
    config: Checklist,
}

/// What became of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Pass,
    Fail,
    LeftOut,
}

impl ChecklistNode {
    fn verdicts(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Result<Vec<Verdict>, Value> {
        let checks: Vec<Value> =
            self.items.iter().enumerate().map(|(i, _)| self.look(i, context, tracer)).collect();
        if let Some(stopper) = stopper(&checks) {
            return Err(stopper);
        }
        let mut verdicts = vec![Verdict::LeftOut; self.items.len()];
        for &i in &self.order {
            let (verdict, why) = self.judge(i, &checks[i], &verdicts);
            verdicts[i] = verdict;
            tracer.note(|| format!("`{}` {why}", self.config.items[i].name));
        }
        Ok(verdicts)
    }

    fn look(&self, i: usize, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        match self.config.items[i].turn {
            None => self.items[i].check.evaluate(context, tracer),
            Some(turn) if turn < context.episode.turns.len() => {
                self.items[i].check.evaluate(&context.at_turn(turn), tracer)
            }
            // Not reached: below every threshold, and never a reason to be left out.
            Some(_) => Value::Number(f64::NEG_INFINITY),
        }
    }

    fn judge(&self, i: usize, check: &Value, so_far: &[Verdict]) -> (Verdict, String) {
        let config = &self.config.items[i];
        let name = |at: usize| &self.config.items[at].name;
        let failed = |at: &usize| so_far[*at] == Verdict::Fail;
        if let Some(gate) = (0..i).filter(|&at| self.config.items[at].required).find(failed) {
            return (Verdict::Fail, format!("does not count: `{}` is required and failed", name(gate)));
        }
        if let Some(need) = self.items[i].needs.iter().copied().find(failed) {
            return (Verdict::Fail, format!("does not count: it needs `{}`", name(need)));
        }
        match (check.number(), self.config.on_not_applicable) {
            (Some(value), _) if value >= config.at_least => (Verdict::Pass, format!("passes: {value}")),
            (Some(f64::NEG_INFINITY), _) => (Verdict::Fail, "fails: its turn was not reached".to_owned()),
            (Some(value), _) => (Verdict::Fail, format!("fails: {value} is below {}", config.at_least)),
            (None, ItemSilence::Fail) => (Verdict::Fail, "fails: nothing to judge it by".to_owned()),
            (None, ItemSilence::LeaveOut) => {
                (Verdict::LeftOut, "is left out: nothing to judge it by".to_owned())
            }
        }
    }

    /// What each item adds. Absent: none applies.
    fn shares(&self, verdicts: &[Verdict]) -> Option<Vec<f64>> {
        let items = || self.config.items.iter().zip(verdicts);
        let total: f64 = items().filter(|(_, v)| **v != Verdict::LeftOut).map(|(item, _)| item.weight).sum();
        let fell = items().any(|(item, v)| item.required && *v == Verdict::Fail);
        let nothing = fell && self.config.on_required_failure == RequiredFailure::Zero;
        let share = |(item, verdict): (&ItemConfig, &Verdict)| match verdict {
            Verdict::Pass if !nothing => item.weight / total,
            _ => 0.0,
        };
        (total > 0.0).then(|| items().map(share).collect())
    }
}

impl Expression for ChecklistNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let verdicts = match self.verdicts(context, tracer) {
            Ok(verdicts) => verdicts,
            Err(value) => return value,
        };
        match self.shares(&verdicts) {
            Some(shares) => Value::Number(shares.iter().sum()),
            None => Value::NotApplicable("no item applies".to_owned()),
        }
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        "checklist".to_owned()
    }

    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        if self.config.payout != Payout::Turn {
            return None;
        }
        let shares = self.shares(&self.verdicts(context, &mut Tracer::off()).ok()?)?;
        let mut paid = vec![0.0; context.episode.turns.len()];
        for (item, share) in self.config.items.iter().zip(shares) {
            if let Some(here) = item.turn.and_then(|turn| paid.get_mut(turn)) {
                *here += share;
            }
        }
        Some(paid)
    }

    fn range(&self, _: &[Range]) -> Range {
        Range::UNIT
    }
}
