//! A customer with a need, a purse, doubts and little patience: find out, show, bid, answer the doubts, close.
//!
//! `hello need speed` is followed by `show speed`, answered `nice who says`: the first doubt, which `prove` settles. `ask cash`, `bid 4`,
//! `wait`, `swap` and `cut` are the other acts; `close` ends the talk, with a deal or without. How likely a deal is follows from what was
//! done by a known formula, and is told as info, never in words.

use super::customer::{Act, Customer, DOUBTS, MAX_CASH, MAX_DOUBTS, MAX_SLACK, NEEDS, PARTS, Talk};
use merit_api::{CommandCard, Demonstration, Manner, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Split, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const HINT: &str = "say ask, show, bid, prove, wait, swap, cut or close";

/// The settings of `sale`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sale {
    /// Doubts of the customer in training tasks, dealt in turn; 1 to 5.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// How often the customer tells their need at first, and, apart from it, their cash; a share.
    pub told: f64,
    /// Patience is the acts of the shortest right talk and 0 to this many more; 0 to 8.
    pub slack: u32,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Sale {
    fn default() -> Self {
        Self { sizes: vec![1, 2, 3], held_out_sizes: Vec::new(), told: 0.3, slack: 2, instructions: false }
    }
}

impl Component for Sale {
    const ABOUT: About = About {
        name: "sale",
        summary: "A customer to be sold to, whose need, purse, doubts and patience have to be found out.",
        paper: "SalesRLAgent: A Reinforcement Learning Approach for Real-Time Sales Conversion Prediction and Optimization (2025)",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list how many doubts customers have, as in [1, 2]"));
        }
        let mut sizes = self.sizes.iter().chain(&self.held_out_sizes);
        if let Some(size) = sizes.find(|size| !(1..=MAX_DOUBTS).contains(size)) {
            return Err(Refusal::new(format!("a size of {size}; give 1 to {MAX_DOUBTS} doubts")));
        }
        Refusal::unless((0.0..=1.0).contains(&self.told), "told", self.told, "a share, 0 to 1")?;
        Refusal::unless(self.slack <= MAX_SLACK, "slack", self.slack, "0 to 8")
    }
}

impl TextGame for Sale {
    type Puzzle = Customer;
    type State = Talk;
    const MANNERS: &'static [Manner] = &[
        Manner::new(
            "exact",
            "Asks for what it does not know, shows, bids all of it, settles every doubt: right.",
        ),
        Manner::new("modest", "As `exact`, with the lowest bid that is taken: right, and worth less."),
        Manner::new("pushy", "Asks, shows and bids, and closes without a word on any doubt."),
        Manner::new(
            "script",
            "The same seven acts whoever is there: need, show, bid 3, prove, wait, cut, close.",
        ),
        Manner::new("hasty", "Shows what is needed and closes at once: hardly ever a deal."),
        Manner::new("any", "Any act at any time."),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Customer {
        let customer = Customer {
            need: rng.below(NEEDS.len() as u64) as usize,
            cash: 2 + rng.below(u64::from(MAX_CASH) - 1) as u32,
            doubts: (0..size).map(|_| rng.below(DOUBTS.len() as u64) as usize).collect(),
            told: std::array::from_fn(|_| rng.chance(self.told)),
            patience: 0,
            luck: rng.below(u64::from(PARTS)) as u32,
        };
        let patience = customer.acts() + rng.below(u64::from(self.slack) + 1) as u32;
        Customer { patience, ..customer }
    }

    /// The customer without their luck and patience, so that no customer is in both splits.
    fn identity(&self, customer: &Customer) -> String {
        json!([customer.need, customer.cash, customer.doubts]).to_string()
    }

    fn check_puzzle(&self, customer: &Customer, size: u32) -> Result<(), String> {
        if customer.doubts.len() != size as usize || !(1..=MAX_DOUBTS).contains(&size) {
            return Err(format!("the customer has {} doubts, its size is {size}", customer.doubts.len()));
        }
        let known = customer.need < NEEDS.len()
            && customer.doubts.iter().all(|doubt| *doubt < DOUBTS.len())
            && (2..=MAX_CASH).contains(&customer.cash);
        if !known || customer.luck >= PARTS {
            return Err("there is no such need, doubt, cash or luck".to_owned());
        }
        let least = customer.acts();
        if (least..=least + MAX_SLACK).contains(&customer.patience) {
            Ok(())
        } else {
            Err(format!("a patience of {} for a talk of {least} acts", customer.patience))
        }
    }

    fn check_state(&self, customer: &Customer, talk: &Talk) -> Result<(), String> {
        let possible = talk.settled as usize <= customer.doubts.len()
            && (talk.shown || talk.settled == 0)
            && talk.bid <= MAX_CASH
            && talk.slips <= talk.acts
            && talk.acts <= customer.patience;
        if possible { Ok(()) } else { Err("its talk is not possible".to_owned()) }
    }

    fn prompt(&self, customer: &Customer) -> String {
        let told = (0..2).filter(|fact| customer.told.get(*fact) == Some(&true));
        let told = told.map(|fact| customer.fact(fact));
        std::iter::once("hello".to_owned()).chain(told).collect::<Vec<String>>().join(" ")
    }

    fn instructions(&self) -> Option<String> {
        let doubts: Vec<String> = DOUBTS.iter().map(|(doubt, act)| format!("{doubt}: `{act}`")).collect();
        let text = format!(
            "Sell something to a customer. Say one line per turn: `ask need` or `ask cash` for what they want and have; `show THING` with \
             what they need ({}); `bid NUMBER` with their cash or one less; what settles a doubt ({}); and `close` when there is no doubt \
             left. They leave when it takes too long.",
            NEEDS.join(", "),
            doubts.join(", ")
        );
        self.instructions.then_some(text)
    }

    fn commands(&self) -> Vec<CommandCard> {
        let settle = |(doubt, act): &(&str, &str)| {
            CommandCard::new(act, &format!("Settle the doubt `{doubt}`.")).example(act)
        };
        let first = [
            CommandCard::new("ask", "Ask the customer for something.")
                .one_of("fact", "what they want, or how much they have", ["need", "cash"])
                .example("ask need"),
            CommandCard::new("show", "Show something.")
                .one_of("thing", "what it has", NEEDS)
                .example("show room"),
            CommandCard::new("bid", "Name a price.").number("price", "the price").example("bid 4"),
        ];
        let close = CommandCard::new("close", "Close the sale, which ends it.").example("close");
        first.into_iter().chain(DOUBTS.iter().map(settle)).chain([close]).collect()
    }

    fn parse(&self, text: &str) -> Action {
        match Act::read(line(text)) {
            Some(_) => Action::Say { text: line(text).to_owned() },
            None => Action::Malformed { why: HINT.to_owned() },
        }
    }

    fn step(&self, customer: &Customer, talk: &mut Talk, action: &Action, _: &[CallRecord]) -> StepResult {
        let act = match action {
            Action::Say { text } => Act::read(text),
            Action::Answer { .. } | Action::Malformed { .. } | Action::Calls { .. } => None,
        };
        let before = talk.chance(customer);
        talk.acts = talk.acts.saturating_add(1);
        let (mut slip, mut deal, mut left) = (false, false, false);
        let mut result = match act {
            Some(Act::Close) => {
                deal = before > (f64::from(customer.luck) + 0.5) / f64::from(PARTS);
                StepResult::saying(if deal { "deal" } else { "no" }).done()
            }
            Some(act) => {
                let (said, flat) = talk.take(customer, act);
                slip = flat;
                StepResult::saying(said)
            }
            None => {
                slip = true;
                talk.slips = talk.slips.saturating_add(1);
                StepResult::saying(HINT)
            }
        };
        if act != Some(Act::Close) && talk.acts >= customer.patience {
            left = true;
            result = StepResult::saying("bye").done();
        }
        let chance = if left { 0.0 } else { talk.chance(customer) };
        let flag = |holds: bool| f64::from(u8::from(holds));
        let value = f64::from(talk.bid) / f64::from(customer.cash.max(1));
        result.with_info([
            ("read", flag(act.is_some())),
            ("slip", flag(slip)),
            ("slips", f64::from(talk.slips)),
            ("shown", flag(talk.shown)),
            ("fair", flag(talk.fair(customer))),
            ("doubts", f64::from(talk.open(customer))),
            ("chance", chance),
            ("rise", chance - before),
            ("left", flag(left)),
            ("converted", flag(deal)),
            ("value", if deal && talk.fair(customer) { value } else { 0.0 }),
            ("acts", f64::from(talk.acts)),
        ])
    }

    fn expert(&self, customer: &Customer, play: &Demonstration<'_>) -> Option<String> {
        let manner = play.manner.unwrap_or(if play.is_correct() { "exact" } else { "hasty" });
        let at = play.turns.len();
        let mut talk = Talk::default();
        for act in play.turns.iter().filter_map(|turn| Act::read(line(&turn.said))) {
            talk.take(customer, act);
        }
        let unknown =
            |fact: usize| customer.told.get(fact) == Some(&false) && talk.asked.get(fact) == Some(&false);
        let shown = [(unknown(0), Act::Ask(0)), (!talk.shown, Act::Show(customer.need))];
        let modest = u32::from(manner == "modest");
        let bid = [
            (unknown(1), Act::Ask(1)),
            (!talk.fair(customer), Act::Bid(customer.cash.saturating_sub(modest))),
        ];
        let due = |steps: &[(bool, Act)]| steps.iter().find(|(due, _)| *due).map(|(_, act)| *act);
        let next = match manner {
            "any" => Some(Act::any(&mut play.seed.child("any", at as u64).stream())),
            "script" => {
                let acts = [
                    Act::Ask(0),
                    Act::Show(customer.need),
                    Act::Bid(3),
                    Act::Settle(0),
                    Act::Settle(1),
                    Act::Settle(3),
                ];
                acts.get(at).copied()
            }
            "hasty" => due(&shown),
            "pushy" => due(&shown).or_else(|| due(&bid)),
            _ => due(&shown).or_else(|| due(&bid)).or_else(|| talk.doubt(customer).map(Act::Settle)),
        };
        Some(next.unwrap_or(Act::Close).words())
    }
}
