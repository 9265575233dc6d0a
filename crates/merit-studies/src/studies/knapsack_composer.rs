//! Knapsack composer: choose tools by their tested value per cost, under a budget.

use crate::inventory::{Inventory, InventoryLaw, Needs, Tool};
use crate::knapsack::{Cover, OnlineRule, best_cover};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who chooses the tools of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Composer {
    /// Takes the whole inventory, whatever it costs.
    Identity,
    /// Takes the tool whose description fits best, for every skill; knows no budget.
    Retrieval,
    /// The cheapest cover of the most weight among the retrieved, as their descriptions claim.
    Offline,
    /// Tries the retrieved one after the other and takes by the online knapsack rule.
    Online,
    /// The cheapest cover by what the tools can really do.
    Oracle,
}

/// A simulated inventory with misleading descriptions; one composer, a sweep of budgets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KnapsackComposer {
    /// Who chooses the tools.
    pub composer: Composer,
    /// Budgets to sweep, rising.
    pub budgets: Vec<f64>,
    /// `lead` and `undominated` are read at this budget and above.
    pub from_budget: f64,
    /// Tasks of one cell.
    pub tasks: usize,
    /// Tools in the inventory.
    pub tools: usize,
    /// How many of the tools copy the description of another.
    pub duplicates: usize,
    /// Different skills there are.
    pub skills: usize,
    /// The chance that a tool's skills are others than it claims.
    pub misdescribed: f64,
    /// The chance that a tool is broken.
    pub broken: f64,
    /// Costs are log-uniform between these.
    pub costs: [f64; 2],
    /// Candidates per skill for the offline and the online composer.
    pub top_k: usize,
    /// Test queries per tool and skill; the majority of the judge's labels decides.
    pub queries: usize,
    /// The chance that the judge takes help for no help, or the other way round, on one query.
    pub judge_noise: f64,
    /// The price of one test query, as a share of the tool's cost.
    pub query_price: f64,
    /// The chance that one more tool makes the agent fail.
    pub delegation_error: f64,
    /// Online: candidates arrive in random order instead of the order of retrieval.
    pub shuffled: bool,
    /// Online: only skills that no chosen tool covers count for a candidate.
    pub uncovered_only: bool,
}

impl Default for KnapsackComposer {
    fn default() -> Self {
        Self {
            composer: Composer::Online,
            budgets: vec![3.0, 6.0, 10.0, 20.0, 40.0, 80.0],
            from_budget: 10.0,
            tasks: 200,
            tools: 120,
            duplicates: 20,
            skills: 12,
            misdescribed: 0.3,
            broken: 0.1,
            costs: [0.5, 20.0],
            top_k: 10,
            queries: 3,
            judge_noise: 0.1,
            query_price: 0.02,
            delegation_error: 0.02,
            shuffled: false,
            uncovered_only: true,
        }
    }
}

impl Component for KnapsackComposer {
    const ABOUT: About = About {
        name: "knapsack-composer",
        summary: "Tools chosen by tested value per cost under a budget, against retrieval by description.",
        paper: "Automated Composition of Agents: A Knapsack Approach for Agentic Component Selection (2025)",
    };

    fn check(&self) -> Result<(), Refusal> {
        let rising = self.budgets.windows(2).all(|pair| pair[0] < pair[1]);
        if self.budgets.is_empty() || !rising || self.budgets.iter().any(|b| !b.is_finite() || *b <= 0.0) {
            return Err(Refusal::new("`budgets` must be a list of rising numbers above 0"));
        }
        for (key, share) in [
            ("misdescribed", self.misdescribed),
            ("broken", self.broken),
            ("judge_noise", self.judge_noise),
            ("delegation_error", self.delegation_error),
        ] {
            Refusal::unless((0.0..=1.0).contains(&share), key, share, "between 0 and 1")?;
        }
        Refusal::unless(self.query_price >= 0.0, "query_price", self.query_price, "0 or more")?;
        Refusal::unless(self.tasks > 0, "tasks", self.tasks, "at least 1")?;
        Refusal::unless((8..=32).contains(&self.skills), "skills", self.skills, "between 8 and 32")?;
        Refusal::unless(self.duplicates < self.tools, "duplicates", self.duplicates, "less than `tools`")?;
        Refusal::unless(self.top_k > 0, "top_k", self.top_k, "at least 1")?;
        Refusal::unless(self.queries > 0, "queries", self.queries, "at least 1")?;
        let [low, high] = self.costs;
        if !(low > 0.0 && low < high && high.is_finite()) {
            return Err(Refusal::new("`costs` must be two numbers above 0, the lower one first"));
        }
        Ok(())
    }
}

/// Means over the tasks at one budget.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Played {
    success: f64,
    cost: f64,
    size: f64,
    trials: f64,
    trial_cost: f64,
}

/// What the composers of one world share.
struct World {
    inventory: Inventory,
    tasks: Vec<Needs>,
}

impl Study for KnapsackComposer {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let world = self.world(seed);
        let mut own = Vec::new();
        for &budget in &self.budgets {
            if !desk.left()? {
                break;
            }
            let played = self.play(self.composer, &world, budget, seed);
            desk.spend("budget", budget - desk.spent("budget"));
            desk.spend("trials", played.trials * self.tasks as f64);
            desk.point("success", played.success);
            desk.point("cost", played.cost);
            let mut tell = |name: &str, value| desk.measure(&format!("{name}_b{budget}"), value);
            tell("success", played.success);
            tell("cost", played.cost);
            tell("size", played.size);
            tell("trial_cost", played.trial_cost);
            own.push((budget, played));
        }
        self.compare(&world, seed, &own, desk);
        Ok(())
    }
}

impl KnapsackComposer {
    fn world(&self, seed: &Seed) -> World {
        let law = InventoryLaw {
            tools: self.tools,
            duplicates: self.duplicates,
            skills: self.skills,
            misdescribed: self.misdescribed,
            broken: self.broken,
            costs: self.costs,
        };
        let inventory = Inventory::draw(&law, &mut seed.child("inventory", 0).stream());
        let draw = |task| Needs::draw(self.skills, &mut seed.child("task", task).stream());
        World { inventory, tasks: (0..self.tasks as u64).map(draw).collect() }
    }

    fn play(&self, composer: Composer, world: &World, budget: f64, seed: &Seed) -> Played {
        let mut sum = Played::default();
        let mut known_broken = vec![false; world.inventory.tools.len()];
        for (at, needs) in world.tasks.iter().enumerate() {
            let chosen = match composer {
                Composer::Identity => (0..world.inventory.tools.len()).collect(),
                Composer::Retrieval => world.inventory.best_matches(needs),
                Composer::Offline => self.offline(&world.inventory, needs, budget),
                Composer::Oracle => oracle(&world.inventory, needs, budget),
                Composer::Online => {
                    let mut stream = seed.child("trials", at as u64).stream();
                    self.online(&world.inventory, needs, budget, &mut known_broken, &mut stream, &mut sum)
                }
            };
            let covered = needs.covered(world.inventory.able(&chosen)) == needs.all();
            let delegated = (1.0 - self.delegation_error).powi(chosen.len() as i32);
            sum.success += if covered { delegated } else { 0.0 };
            sum.cost += world.inventory.cost(&chosen);
            sum.size += chosen.len() as f64;
        }
        for part in [&mut sum.success, &mut sum.cost, &mut sum.size, &mut sum.trials, &mut sum.trial_cost] {
            *part /= world.tasks.len() as f64;
        }
        sum
    }

    fn offline(&self, inventory: &Inventory, needs: &Needs, budget: f64) -> Vec<usize> {
        let candidates = inventory.candidates(needs, self.top_k);
        let item = |&(tool, covers): &(usize, u32)| Cover { cost: inventory.tools[tool].cost, covers };
        let items: Vec<Cover> = candidates.iter().map(item).collect();
        best_cover(&items, &needs.weights, budget).into_iter().map(|at| candidates[at].0).collect()
    }

    fn online(
        &self,
        inventory: &Inventory,
        needs: &Needs,
        budget: f64,
        known_broken: &mut [bool],
        stream: &mut Stream,
        sum: &mut Played,
    ) -> Vec<usize> {
        let [low, high] = self.costs;
        let rule = OnlineRule { low: 1.0 / high, high: needs.weight(needs.all()) / low };
        let mut candidates = inventory.candidates(needs, self.top_k);
        if self.shuffled {
            stream.shuffle(&mut candidates);
        }
        let (mut chosen, mut covered, mut spent) = (Vec::new(), 0, 0.0);
        for (at, retrieved_for) in candidates {
            let tool = &inventory.tools[at];
            if known_broken[at] {
                continue;
            }
            let queries = f64::from(retrieved_for.count_ones()) * self.queries as f64;
            sum.trials += queries;
            sum.trial_cost += queries * self.query_price * tool.cost;
            if tool.broken {
                known_broken[at] = true;
                continue;
            }
            let passed = self.passed(needs.covered(tool.able), retrieved_for, stream);
            let counts = if self.uncovered_only { passed & !covered } else { passed };
            let value = needs.weight(counts);
            if value > 0.0 && rule.takes(value, tool.cost, spent, budget) {
                chosen.push(at);
                covered |= passed;
                spent += tool.cost;
            }
        }
        chosen
    }

    /// The needs whose test queries a tool passes, as a noisy judge sees it.
    fn passed(&self, able: u32, retrieved_for: u32, stream: &mut Stream) -> u32 {
        let mut passed = 0;
        for j in (0..u32::BITS).filter(|j| retrieved_for >> j & 1 == 1) {
            let helps = able >> j & 1 == 1;
            let wrong = (0..self.queries).filter(|_| stream.chance(self.judge_noise)).count();
            let helpful = if helps { self.queries - wrong } else { wrong };
            passed |= u32::from(2 * helpful > self.queries) << j;
        }
        passed
    }

    /// The least lead over retrieval, and the share of budgets at which no other composer has at least the success for at most
    /// the cost.
    fn compare(&self, world: &World, seed: &Seed, own: &[(f64, Played)], desk: &mut Desk<'_>) {
        let rivals = [Composer::Identity, Composer::Retrieval, Composer::Offline, Composer::Online];
        let rivals = rivals.into_iter().filter(|rival| *rival != self.composer);
        let plain = Self { shuffled: false, uncovered_only: true, ..self.clone() };
        let points: Vec<Played> = rivals
            .flat_map(|rival| self.budgets.iter().map(move |budget| (rival, *budget)))
            .map(|(rival, budget)| plain.play(rival, world, budget, seed))
            .collect();
        let judged: Vec<(f64, Played)> =
            own.iter().filter(|(b, _)| *b >= self.from_budget).copied().collect();
        if judged.is_empty() {
            return;
        }
        let retrieval = |budget| self.play(Composer::Retrieval, world, budget, seed).success;
        let lead = judged.iter().map(|(budget, played)| played.success - retrieval(*budget));
        desk.measure("lead", lead.fold(f64::INFINITY, f64::min));
        let share = |cost: fn(&Played) -> f64| {
            let free =
                judged.iter().filter(|(_, own)| !points.iter().any(|other| dominates(other, own, cost)));
            free.count() as f64 / judged.len() as f64
        };
        desk.measure("undominated", share(|played| played.cost));
        desk.measure("undominated_with_trials", share(|played| played.cost + played.trial_cost));
    }
}

fn dominates(other: &Played, own: &Played, cost: fn(&Played) -> f64) -> bool {
    let (theirs, ours) = (cost(other), cost(own));
    other.success >= own.success && theirs <= ours && (other.success > own.success || theirs < ours)
}

fn oracle(inventory: &Inventory, needs: &Needs, budget: f64) -> Vec<usize> {
    let item = |tool: &Tool| Cover { cost: tool.cost, covers: needs.covered(tool.able) };
    let items: Vec<Cover> = inventory.tools.iter().map(item).collect();
    best_cover(&items, &needs.weights, budget)
}
