//! CoMAS: agents solve, criticise and score one another, and learn from what they earn of it.

use crate::chooser::Choice;
use crate::discussion::{Agent, case};
use crate::linked::{Shares, interaction};
use crate::tabular::mean;
use crate::turns::advantages::Normalisation;
use crate::worlds::triples::{KINDS, Miss, Question};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the roles are paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Paid {
    /// No agent learns.
    Untrained,
    /// Solver and critic share one by the score; an unreadable score costs the scorer one.
    Interaction,
    /// The same, and an unreadable score counts as 2: the error of a public copy.
    UnreadableIsTwo,
    /// There is no critic; the solver earns its score.
    SolverOnly,
    /// The solver earns 1 of a right solution: the truth.
    Oracle,
}

/// Over what advantages are normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// The batch of one agent, its three roles together.
    Agent,
    /// The batches of all agents together.
    All,
}

/// Agents with one policy each for three roles, on sums of three of eight numbers. Who criticises and who scores is dealt out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Comas {
    /// What the roles are paid.
    pub paid: Paid,
    /// Over what advantages are normalised.
    pub normalised_over: Over,
    /// How many agents; one plays all roles by itself.
    pub agents: usize,
    /// Agents are schooled in different kinds of questions.
    pub diverse: bool,
    /// The chance that a reading of a sum is right.
    pub quality: f64,
    /// Lessons before they learn from one another.
    pub lessons: usize,
    /// Solutions of an update, over all agents.
    pub solutions: usize,
    /// Number of policy updates.
    pub updates: usize,
    /// What a nat away from the schooled policy costs.
    pub kl: f64,
    /// Learning rate of the policy.
    pub learning_rate: f64,
    /// Questions that are measured on.
    pub evaluation: usize,
}

impl Default for Comas {
    fn default() -> Self {
        Self {
            paid: Paid::Interaction,
            normalised_over: Over::Agent,
            agents: 3,
            diverse: true,
            quality: 0.7,
            lessons: 200,
            solutions: 96,
            updates: 150,
            kl: 0.01,
            learning_rate: 0.5,
            evaluation: 1500,
        }
    }
}

impl Component for Comas {
    const ABOUT: About = About {
        name: "comas",
        summary: "Agents solve, criticise and score one another; solver and critic share what the score gives.",
        paper: "CoMAS: Co-Evolving Multi-Agent Systems via Interaction Rewards (2025)",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.agents > 0, "agents", self.agents, "at least 1")?;
        Refusal::unless((0.0..=1.0).contains(&self.quality), "quality", self.quality, "0 to 1")?;
        Refusal::unless(self.lessons > 0, "lessons", self.lessons, "at least 1")?;
        Refusal::unless(
            self.solutions >= self.agents,
            "solutions",
            self.solutions,
            "one for each agent at least",
        )?;
        Refusal::unless(self.kl.is_finite() && self.kl >= 0.0, "kl", self.kl, "at least 0")?;
        let rate = self.learning_rate;
        Refusal::unless(rate.is_finite() && rate > 0.0, "learning_rate", rate, "above 0")?;
        Refusal::unless(self.evaluation > 0, "evaluation", self.evaluation, "at least 1")
    }
}

/// The three roles, in the order of their names in measures.
const ROLES: [&str; 3] = ["solver", "critic", "scorer"];
/// Updates between two points of the curves.
const EVERY: usize = 10;

/// What somebody did, and what it earned.
struct Turn {
    agent: usize,
    role: usize,
    path: Vec<Choice>,
    earned: f64,
}

/// What the agents are worth, in the mean over them.
struct Found {
    accuracy: f64,
    /// The share of readable scores that are true.
    agreement: f64,
    /// The score that they give one another, and the true one.
    score: f64,
    true_score: f64,
    unreadable: f64,
}

impl Study for Comas {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let schooled = self.schooled(seed);
        let mut agents = schooled.clone();
        let before = self.found(&agents, seed);
        let mut stream = seed.child("learning", 0).stream();
        let mut update = 0;
        while self.paid != Paid::Untrained && update < self.updates && desk.left()? {
            if update % EVERY == 0 {
                self.points(&self.found(&agents, seed), desk);
            }
            let turns = self.exchange(&agents, &mut stream);
            let advantages = self.learn(&mut agents, &schooled, &turns);
            for (role, name) in ROLES.iter().enumerate() {
                let of_role = turns.iter().zip(&advantages).filter(|(turn, _)| turn.role == role);
                desk.point(&format!("advantage/{name}"), mean(&of_role.map(|(_, a)| *a).collect::<Vec<_>>()));
            }
            desk.spend("solutions", self.solutions as f64);
            desk.spend("updates", 1.0);
            update += 1;
        }
        let after = self.found(&agents, seed);
        self.points(&after, desk);
        desk.measure("accuracy", after.accuracy);
        desk.measure("gain", after.accuracy - before.accuracy);
        desk.measure("agreement", after.agreement);
        desk.measure("agreement_change", after.agreement - before.agreement);
        desk.measure("score", after.score);
        desk.measure("score_rise", after.score - before.score);
        let inflation = (after.score - before.score) - (after.true_score - before.true_score);
        desk.measure("inflation", inflation);
        desk.measure("unreadable", after.unreadable);
        if inflation > 0.2 {
            desk.note("scores rose by more than what they score");
        }
        Ok(())
    }
}

impl Comas {
    fn points(&self, found: &Found, desk: &mut Desk<'_>) {
        desk.point("accuracy", found.accuracy);
        desk.point("agreement", found.agreement);
        desk.point("score", found.score);
    }

    /// Every agent is schooled in three of five kinds; alike if they are not diverse.
    fn schooled(&self, seed: &Seed) -> Vec<Agent> {
        let school = |number: usize| {
            let number = if self.diverse { number } else { 0 };
            let kinds: Vec<usize> = (0..3).map(|i| (2 * number + i) % KINDS).collect();
            let mut stream = seed.child("school", number as u64).stream();
            Agent::schooled(&kinds, self.quality, self.lessons, &mut stream)
        };
        (0..self.agents).map(school).collect()
    }

    /// One round: all agents solve, and critics and scorers are dealt out over all slots. Who is dealt its own solution judges itself.
    fn exchange(&self, agents: &[Agent], stream: &mut Stream) -> Vec<Turn> {
        let solvers: Vec<usize> = (0..self.solutions).map(|slot| slot % agents.len()).collect();
        let mut deal = || {
            let mut dealt = solvers.clone();
            stream.shuffle(&mut dealt);
            dealt
        };
        let (critics, scorers) = (deal(), deal());
        let mut turns = Vec::new();
        for ((solver, critic), scorer) in solvers.iter().copied().zip(critics).zip(scorers) {
            let question = Question::draw(stream);
            let (solution, path) = agents[solver].solve(&question, stream);
            let off = question.off(solution.pick);
            if self.paid == Paid::Oracle {
                turns.push(Turn { agent: solver, role: 0, path, earned: f64::from(off == 0) });
                continue;
            }
            let critique =
                (self.paid != Paid::SolverOnly).then(|| agents[critic].criticise(&question, off, stream));
            let said = critique.as_ref().map(|(critique, _)| *critique);
            let (score, scoring) = agents[scorer].score(off, solution.sure, said, stream);
            let shares = self.shares(score);
            turns.push(Turn { agent: solver, role: 0, path, earned: shares.solver });
            turns.extend(critique.map(|(_, path)| Turn {
                agent: critic,
                role: 1,
                path,
                earned: shares.critic,
            }));
            turns.push(Turn { agent: scorer, role: 2, path: scoring, earned: shares.scorer });
        }
        turns
    }

    fn shares(&self, score: Option<u8>) -> Shares {
        if self.paid == Paid::UnreadableIsTwo { interaction(score.or(Some(2))) } else { interaction(score) }
    }

    /// REINFORCE++: `A = r − kl · ln(π / schooled)`, normalised over the batch of each agent, one step each. Gives the advantages.
    fn learn(&self, agents: &mut [Agent], schooled: &[Agent], turns: &[Turn]) -> Vec<f64> {
        let away = |turn: &Turn| {
            let log = |agents: &[Agent]| agents[turn.agent].policy.log_chance(&turn.path);
            log(agents) - log(schooled)
        };
        let returns: Vec<f64> = turns.iter().map(|turn| turn.earned - self.kl * away(turn)).collect();
        let mut advantages = vec![0.0; turns.len()];
        let groups = if self.normalised_over == Over::Agent { agents.len() } else { 1 };
        for group in 0..groups {
            let own: Vec<usize> = (0..turns.len()).filter(|i| turns[*i].agent % groups == group).collect();
            let of_own: Vec<Vec<f64>> = own.iter().map(|i| vec![returns[*i]]).collect();
            let normalised = Normalisation::Joint.advantages(&of_own, &[1.0]);
            own.iter().zip(normalised).for_each(|(i, a)| advantages[*i] = a);
        }
        for (number, agent) in agents.iter_mut().enumerate() {
            let own = turns.iter().zip(&advantages).filter(|(turn, _)| turn.agent == number);
            let paths: Vec<(&[Choice], f64)> = own.map(|(turn, a)| (turn.path.as_slice(), *a)).collect();
            agent.policy.climb(&paths, None, self.learning_rate);
        }
        advantages
    }

    /// On fresh questions, the same for every arm. Agreement is measured on given cases with given critiques, scores on the agents' own.
    fn found(&self, agents: &[Agent], seed: &Seed) -> Found {
        let mut stream = seed.child("evaluation", 0).stream();
        let (mut accuracy, mut agree) = (Vec::new(), Vec::new());
        for at in 0..self.evaluation {
            let question = Question::draw(&mut stream);
            accuracy.push(mean(&agents.iter().map(|agent| agent.accuracy(&question)).collect::<Vec<_>>()));
            let (off, sure, critique) = case(&question, self.quality, &mut stream);
            let critique = Some(critique).filter(|_| self.paid != Paid::SolverOnly);
            let said = agents[at % agents.len()].score(off, sure, critique, &mut stream).0;
            agree.extend(said.map(|score| f64::from(u8::from(score == Miss::of(off).score()))));
        }
        let (mut scores, mut truths, mut unreadable) = (Vec::new(), Vec::new(), 0);
        for at in 0..self.evaluation {
            let question = Question::draw(&mut stream);
            let [solver, critic, scorer] = [0, 1, 2].map(|step| &agents[(at + step) % agents.len()]);
            let (solution, _) = solver.solve(&question, &mut stream);
            let off = question.off(solution.pick);
            let critique = critic.criticise(&question, off, &mut stream).0;
            let critique = Some(critique).filter(|_| self.paid != Paid::SolverOnly);
            match scorer.score(off, solution.sure, critique, &mut stream).0 {
                Some(score) => scores.push(f64::from(score)),
                None => unreadable += 1,
            }
            truths.push(f64::from(Miss::of(off).score()));
        }
        Found {
            accuracy: mean(&accuracy),
            agreement: mean(&agree),
            score: mean(&scores),
            true_score: mean(&truths),
            unreadable: unreadable as f64 / self.evaluation as f64,
        }
    }
}
