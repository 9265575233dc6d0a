//! A credit rule of one's own: rewards are compared by their rank in the group, so that one wild reward moves nobody far.

use merit::credit::conformance::check_rule;
use merit::prelude::*;

/// `2 · (share of the other members it beats) − 1`, ties counting half: between −1 and 1, and 0 on average in each group.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(crate = "merit::serde", default, deny_unknown_fields)]
#[schemars(crate = "merit::schemars")]
pub(crate) struct RankRule {}

impl Component for RankRule {
    const ABOUT: About = About { name: "rank", summary: "The rank of the reward in its group.", paper: "" };
}

impl CreditRule for RankRule {
    fn properties(&self) -> Properties {
        Properties::by_episode()
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        let samples: Vec<Sample> = batch.samples()?.into_iter().map(|(_, sample)| sample).collect();
        let (mut advantages, mut notes) = (Vec::new(), Vec::new());
        let members = batch.groups.iter().flat_map(|group| group.members().iter().map(move |m| (group, m)));
        for ((group, scored), sample) in members.zip(&samples) {
            let rewards = group.rewards();
            let rank = match scored.reward().filter(|_| !group.constant()) {
                Some(reward) => {
                    let beaten = rewards.iter().filter(|other| **other < reward).count() as f64;
                    let tied = rewards.iter().filter(|other| **other == reward).count() as f64 - 1.0;
                    2.0 * (beaten + tied / 2.0) / (rewards.len() as f64 - 1.0) - 1.0
                }
                None => 0.0,
            };
            advantages.push(vec![rank; sample.turns.len()]);
            notes.push(Note::new([format!("rank {rank:.3} among {} valid members", rewards.len())]));
        }
        batch.per_turn(samples, &advantages, notes)
    }
}

pub(crate) fn main() -> merit::Result<()> {
    // The contract of every credit rule, checked on thousands of tokens of ragged, broken and permuted groups.
    let violations = check_rule(&RankRule {});
    assert!(violations.is_empty(), "{violations:?}");
    // From now on a recipe may say `credit.type = "rank"`.
    let components = merit::built_in().with(entry!(RankRule as dyn CreditRule));
    let text = shipped::recipes()[0].text.replace("type = \"grpo\"", "type = \"rank\"");
    let recipe = Recipe::read("ranked.toml", &text.replace("scale_by_std = true\n", ""), &components)?;
    println!("recipe {} gives credit by `{}`", recipe.name, recipe.credit.about().name);
    Ok(())
}
