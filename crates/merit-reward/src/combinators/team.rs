//! Shares a reward within a team and sets it against the others (Lucy-SKG's and OpenAI Five's team spirit):
//!
//!   R'_i = (1 − spirit) · R_i + spirit · mean(team) − opponents · mean(others)
//!
//! The team is the episode's group, or every episode of its round whose task says the same at a JSON pointer; the episode
//! itself belongs to it. The others are the rest of the round: the episodes of the batch with the same phase and step, and
//! with the same value at `within` where that is given (one match of several). Means are over the episodes to which the part
//! applies; where there are no others, nothing is taken away. `modes` chooses other weights for some kinds of task or phases.
//! The episode's own share is paid by turn where the part is; what comes from the rest is paid at the end.

use super::task_fact::{Named, PayloadPointer, TaskFact, number_of, possible};
use crate::prelude::*;
use std::collections::BTreeMap;

/// Shares a reward within a team and sets it against the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Team {
    /// What each episode earns by itself.
    pub of: Box<RewardConfig>,
    /// Who belongs together.
    pub team: TeamBy,
    /// Only episodes whose task says the same here meet. Absent: the whole batch of a step does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<PayloadPointer>,
    /// Share of the team's mean, 0 to 1.
    pub spirit: f64,
    /// How much of the others' mean is taken away; at least 0.
    pub opponents: f64,
    /// Other weights for some tasks or phases. Absent: the same for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<ModesConfig>,
}

/// What tells a team.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TeamBy {
    /// The members of a group are a team.
    Group,
    /// Episodes whose tasks' payloads say the same here are a team. Without anything there an episode has no team, and the
    /// reward does not apply.
    Payload(PayloadPointer),
}

/// The weights of some modes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModesConfig {
    /// What tells the mode: `world`, `split`, `size`, `phase` or a JSON pointer into the task's payload.
    pub by: TaskFact,
    /// The weights of each mode; any other mode has those of `team`.
    pub weights: BTreeMap<String, TeamWeights>,
}

/// The weights of one mode.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TeamWeights {
    /// Share of the team's mean, 0 to 1.
    pub spirit: f64,
    /// How much of the others' mean is taken away; at least 0.
    pub opponents: f64,
}

impl TeamWeights {
    fn check(&self) -> Result<(), Problem> {
        if !(0.0..=1.0).contains(&self.spirit) {
            return Err(Problem::NotAShare { field: "spirit", value: self.spirit });
        }
        if !(self.opponents.is_finite() && self.opponents >= 0.0) {
            let text =
                format!("`opponents` is {}; it is taken away already and must be at least 0", self.opponents);
            return Err(Problem::Setting(text));
        }
        Ok(())
    }
}

impl Component for Team {
    const ABOUT: About = About {
        name: "team",
        summary: "Shares a reward within a team and sets it against the others.",
        paper: "Lucy-SKG: Learning to Play Rocket League Efficiently Using Deep Reinforcement Learning (2023)",
    };
    const EXAMPLE: &'static str = r#"
of = { type = "exact-answer" }
team = { payload = "/team" }
within = "/match"
spirit = 0.3
opponents = 1.0
modes = { by = "/mode", weights = { practice = { spirit = 1.0, opponents = 0.0 } } }
"#;
}

impl Combinator for Team {
    fn children(&self) -> Vec<&RewardConfig> {
        vec![&self.of]
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        compiler.whole_episodes("team")?;
        let weights = TeamWeights { spirit: self.spirit, opponents: self.opponents };
        let modes = self.modes.iter().flat_map(|modes| modes.weights.values());
        for weights in modes.chain([&weights]) {
            weights.check().map_err(|problem| compiler.error(problem))?;
        }
        if let Some(modes) = &self.modes {
            if modes.weights.is_empty() {
                return Err(compiler.error(Problem::Setting("`modes.weights` is empty; name a mode".into())));
            }
            for mode in modes.weights.keys() {
                possible(&modes.by, mode).map_err(|text| compiler.error(Problem::Setting(text)))?;
            }
        }
        let of = compiler.part("of", &self.of)?;
        let value = compiler.slot(&of);
        let round = compiler.slot(&round(self.within.clone()));
        let team = match &self.team {
            TeamBy::Group => None,
            TeamBy::Payload(pointer) => Some(compiler.slot(&team_name(pointer.clone()))),
        };
        Ok(Arc::new(TeamNode { of, value, round, team, weights, modes: self.modes.clone() }))
    }
}

/// The number of who meets whom.
fn round(within: Option<PayloadPointer>) -> Node {
    Arc::new(Named(move |episode: &Episode| {
        let of_match = within.clone().map(|pointer| TaskFact::Payload(pointer).tell(episode)).transpose()?;
        let (phase, step) = (episode.id.phase.to_string(), episode.id.step.to_string());
        Ok(number_of(&[&phase, &step, of_match.as_deref().unwrap_or("")]))
    }))
}

fn team_name(pointer: PayloadPointer) -> Node {
    let fact = TaskFact::Payload(pointer);
    Arc::new(Named(move |episode: &Episode| Ok(number_of(&[&fact.tell(episode)?]))))
}

struct TeamNode {
    of: Node,
    value: Slot,
    round: Slot,
    team: Option<Slot>,
    weights: TeamWeights,
    modes: Option<ModesConfig>,
}

/// A mean and of how many.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, number: f64) {
        self.sum += number;
        self.count += 1;
    }

    fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

impl TeamNode {
    /// The weights and the mode that chose them.
    fn weights(&self, context: &NodeContext<'_>) -> Result<(TeamWeights, Option<String>), Value> {
        let Some(modes) = &self.modes else { return Ok((self.weights, None)) };
        match modes.by.tell(context.episode) {
            Ok(mode) => Ok((modes.weights.get(&mode).copied().unwrap_or(self.weights), Some(mode))),
            Err(Value::NotApplicable(_)) => Ok((self.weights, None)),
            Err(other) => Err(other),
        }
    }

    /// The means of the team and of the others.
    fn means(&self, context: &NodeContext<'_>) -> Result<(Mean, Mean), Value> {
        let own_number = |slot: Slot| match context.own(slot) {
            Some(Value::Number(number)) => Ok(*number),
            Some(other) => Err(other.clone()),
            None => Err(Value::Broken("the episode is not in its batch".to_owned())),
        };
        let round = own_number(self.round)?;
        let team = self.team.map(|slot| own_number(slot).map(|name| (slot, name))).transpose()?;
        let group = context.values.group_of.get(context.at);
        let (mut mates, mut others) = (Mean::default(), Mean::default());
        for (at, value) in context.batch(self.value).iter().enumerate() {
            let says =
                |slot: Slot, number: f64| context.batch(slot).get(at).and_then(Value::number) == Some(number);
            let Some(value) = value.number().filter(|_| says(self.round, round)) else { continue };
            let mate = match team {
                Some((slot, name)) => says(slot, name),
                None => context.values.group_of.get(at) == group,
            };
            if mate { mates.add(value) } else { others.add(value) }
        }
        Ok((mates, others))
    }
}

impl Expression for TeamNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let own = match evaluate(self.of.as_ref(), context, tracer) {
            Value::Number(own) => own,
            other => return other,
        };
        let ((weights, mode), (mates, others)) = match (self.weights(context), self.means(context)) {
            (Ok(weights), Ok(means)) => (weights, means),
            (Err(why), _) | (_, Err(why)) => return why,
        };
        let (team, against) = (mates.value().unwrap_or(own), others.value());
        if let Some(mode) = mode {
            tracer.note(|| format!("mode `{mode}`"));
        }
        tracer.note(|| format!("own {own}; team of {} mean {team}, × {}", mates.count, weights.spirit));
        tracer.note(|| match against {
            Some(mean) => format!("{} others mean {mean}, × {}", others.count, weights.opponents),
            None => "no others; nothing is taken away".to_owned(),
        });
        let shared = (1.0 - weights.spirit) * own + weights.spirit * team;
        Value::Number(shared - weights.opponents * against.unwrap_or(0.0))
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        "team".to_owned()
    }

    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        let (weights, _) = self.weights(context).ok()?;
        let paid = self.of.paid_by_turn(context)?;
        Some(paid.into_iter().map(|here| (1.0 - weights.spirit) * here).collect())
    }

    fn range(&self, terms: &[Range]) -> Range {
        let of = self.of.range(terms);
        // A mean lies where its numbers do, and where there are no others nothing is taken away.
        let weigh = |weights: &TeamWeights| of.plus(of.scaled(-weights.opponents).hull(Range::only(0.0)));
        let modes = self.modes.iter().flat_map(|modes| modes.weights.values());
        modes.map(weigh).fold(weigh(&self.weights), Range::hull)
    }
}
