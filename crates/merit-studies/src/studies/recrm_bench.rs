//! RecRM-Bench: a reward model for each of four axes, and their gated sum for a recommender.

use crate::axes::{Entry, ROWS, Scorers, WEIGHTS, exact, gated, logistic};
use crate::chooser::{Choice, Chooser};
use crate::recommending::{Case, recommend, template};
use crate::scores::{auroc, ece};
use crate::tabular::mean;
use crate::turns::advantages::Normalisation;
use crate::worlds::recommender::{AXES, Catalogue, Reply, User};
use crate::{Desk, Study, StudyError};
use merit_core::{About, Component, Refusal, Seed, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How faults come into the entries that scorers are fitted to. What they are measured on has independent ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Faults {
    /// Each axis by itself.
    Independent,
    /// In four of five entries on all axes or on none.
    Together,
    /// Independent, and then dealt out among the entries: there is nothing to learn.
    Permuted,
}

/// What the recommender is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Paid {
    /// The scorers are measured, and nothing is recommended.
    None,
    /// The chance of a click.
    Click,
    /// `0.2 instruction + 0.3 fact + 0.3 query + 0.2 user`, all four learned.
    Sum,
    /// `rules · (0.3 fact + 0.3 query + 0.2 user) + 0.2 rules`: three learned scores where exact rules pass.
    Gated,
    /// The same with exact checks.
    Exact,
}

/// Items of eight attributes, users with hidden tastes, replies of an item, three claims and a wrapper. Four logistic scorers are
/// fitted to a template's replies with faults; a softmax policy then recommends, paid by them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecrmBench {
    /// How faults come into the entries.
    pub faults: Faults,
    /// What the recommender is paid.
    pub reward: Paid,
    /// Items of the catalogue.
    pub items: usize,
    /// Number of simulated users.
    pub users: usize,
    /// Entries that scorers are fitted to.
    pub entries: usize,
    /// How often every entry is met.
    pub epochs: usize,
    /// Entries and cases that are measured on.
    pub evaluation: usize,
    /// Updates of the recommender.
    pub updates: usize,
    /// Cases of an update.
    pub cases: usize,
    /// Replies that are sampled for each request.
    pub rollouts: usize,
    /// Step size of the recommender.
    pub learning_rate: f64,
    /// What a claim of what the user likes adds to the log-odds of a click, true or not.
    pub temptation: f64,
}

impl Default for RecrmBench {
    fn default() -> Self {
        Self {
            faults: Faults::Independent,
            reward: Paid::None,
            items: 200,
            users: 300,
            entries: 5000,
            epochs: 20,
            evaluation: 2000,
            updates: 400,
            cases: 16,
            rollouts: 8,
            learning_rate: 0.3,
            temptation: 0.1,
        }
    }
}

impl Component for RecrmBench {
    const ABOUT: About = About {
        name: "recrm-bench",
        summary: "A scorer for each of four axes of a recommender's replies, and their gated sum as its reward.",
        paper: "RecRM-Bench: Benchmarking Multidimensional Reward Modeling for Agentic Recommender Systems (2026), arXiv:2605.11874",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.items >= 20, "items", self.items, "at least 20")?;
        Refusal::unless(self.users > 0, "users", self.users, "at least 1")?;
        Refusal::unless(self.entries > 0, "entries", self.entries, "at least 1")?;
        Refusal::unless(self.evaluation > 1, "evaluation", self.evaluation, "at least 2")?;
        Refusal::unless(self.cases > 0, "cases", self.cases, "at least 1")?;
        Refusal::unless(self.rollouts > 1, "rollouts", self.rollouts, "at least 2: groups are compared")?;
        let rate = self.learning_rate;
        Refusal::unless(rate.is_finite() && rate > 0.0, "learning_rate", rate, "above 0")?;
        Refusal::unless(self.temptation.is_finite(), "temptation", self.temptation, "a number")
    }
}

impl Study for RecrmBench {
    fn run(&self, seed: &Seed, desk: &mut Desk<'_>) -> Result<(), StudyError> {
        let catalogue = Catalogue::draw(self.items, self.users, &mut seed.child("catalogue", 0).stream());
        let scorers = self.fitted(&catalogue, seed, desk)?;
        if self.reward != Paid::None {
            return self.recommender(&catalogue, &scorers, seed, desk);
        }
        let test = self.drawn(&catalogue, Faults::Independent, self.evaluation, &seed.child("test", 0))?;
        let scores: Vec<[f64; 4]> = test.iter().map(|(words, _)| scorers.of(words)).collect();
        let (mut least, mut most) = (1.0_f64, 0.0_f64);
        for (of, axis) in AXES.iter().enumerate() {
            for (by, label) in AXES.iter().enumerate() {
                let pairs: Vec<(f64, bool)> =
                    scores.iter().zip(&test).map(|(s, (_, good))| (s[of], good[by])).collect();
                let area = auroc(&pairs);
                desk.measure(&format!("auc/{axis}/{label}"), area);
                if of != by {
                    most = most.max((area - 0.5).abs());
                    continue;
                }
                let right = pairs.iter().filter(|(p, good)| (*p >= 0.5) == *good).count();
                let accuracy = right as f64 / pairs.len().max(1) as f64;
                desk.measure(&format!("accuracy/{axis}"), accuracy);
                desk.measure(&format!("ece/{axis}"), ece(&pairs, 15));
                desk.point("accuracy", accuracy);
                least = least.min(accuracy);
            }
        }
        desk.measure("diagonal_least", least);
        desk.measure("off_diagonal_most", most);
        Ok(())
    }
}

impl RecrmBench {
    fn drawn(
        &self,
        catalogue: &Catalogue,
        faults: Faults,
        many: usize,
        seed: &Seed,
    ) -> Result<Vec<Entry>, StudyError> {
        let mut stream = seed.stream();
        let mut entries = Vec::new();
        for _ in 0..many {
            let shared = (faults == Faults::Together && stream.chance(0.8)).then(|| stream.chance(0.5));
            let faults = [(); 4].map(|()| shared.unwrap_or_else(|| stream.chance(0.5)));
            let none = || StudyError::Broken("no item of the catalogue fits the user".to_owned());
            let reply = catalogue.reply(faults, &mut stream).ok_or_else(none)?;
            entries.push((reply.words(ROWS), faults.map(|fault| !fault)));
        }
        if faults == Faults::Permuted {
            let mut labels: Vec<[bool; 4]> = entries.iter().map(|(_, good)| *good).collect();
            stream.shuffle(&mut labels);
            entries.iter_mut().zip(labels).for_each(|(entry, good)| entry.1 = good);
        }
        Ok(entries)
    }

    fn fitted(&self, catalogue: &Catalogue, seed: &Seed, desk: &mut Desk<'_>) -> Result<Scorers, StudyError> {
        let mut entries = self.drawn(catalogue, self.faults, self.entries, &seed.child("entries", 0))?;
        let mut stream = seed.child("fit", 0).stream();
        let mut scorers = Scorers::new(&mut stream);
        for _ in 0..self.epochs {
            desk.left()?;
            stream.shuffle(&mut entries);
            scorers.fit(&entries);
            desk.spend("entries", entries.len() as f64);
        }
        Ok(scorers)
    }

    /// The chance that the user clicks: by taste, by what was asked, and by what the user would like to hear.
    fn click(&self, user: &User, reply: &Reply) -> f64 {
        logistic(user.taste(&reply.item) + reply.relevance() - 1.0 + self.temptation * reply.flattery())
    }

    fn pay(&self, scorers: &Scorers, user: &User, reply: &Reply) -> f64 {
        let learned = || scorers.of(&reply.words(ROWS));
        match self.reward {
            Paid::None => 0.0,
            Paid::Click => self.click(user, reply),
            Paid::Sum => learned().iter().zip(WEIGHTS).map(|(score, weight)| weight * score).sum(),
            Paid::Gated => gated(reply.follows(), learned()),
            Paid::Exact => gated(reply.follows(), exact(user, reply)),
        }
    }

    fn recommender(
        &self,
        catalogue: &Catalogue,
        scorers: &Scorers,
        seed: &Seed,
        desk: &mut Desk<'_>,
    ) -> Result<(), StudyError> {
        let mut policy = template();
        let mut stream = seed.child("learning", 0).stream();
        let before = self.found(&policy, catalogue, scorers, seed);
        let mut update = 0;
        while update < self.updates && desk.left()? {
            if update % 50 == 0 {
                let found = self.found(&policy, catalogue, scorers, seed);
                desk.point("clicks", found.clicks);
                desk.point("violations", found.violations);
            }
            self.learn(&mut policy, catalogue, scorers, &mut stream);
            desk.spend("updates", 1.0);
            update += 1;
        }
        let found = self.found(&policy, catalogue, scorers, seed);
        let blind = (found.learned - before.learned) - (found.exact - before.exact);
        desk.point("clicks", found.clicks);
        desk.point("violations", found.violations);
        desk.measure("clicks", found.clicks);
        desk.measure("violations", found.violations);
        desk.measure("clicks_gained", found.clicks - before.clicks);
        desk.measure("start/violations", before.violations);
        desk.measure("blind_spot", blind);
        AXES.iter().zip(found.axes).for_each(|(axis, value)| desk.measure(&format!("exact/{axis}"), value));
        if blind > 0.1 {
            desk.note("what the learned scores say rose by more than what is true");
        }
        Ok(())
    }

    fn learn(&self, policy: &mut Chooser, catalogue: &Catalogue, scorers: &Scorers, stream: &mut Stream) {
        let mut paths: Vec<(Vec<Choice>, f64)> = Vec::new();
        for case in (0..self.cases).filter_map(|_| Case::draw(catalogue, stream)).collect::<Vec<_>>() {
            let group: Vec<_> = (0..self.rollouts).map(|_| recommend(policy, &case, stream)).collect();
            let paid = |(reply, _): &(Reply, _)| vec![self.pay(scorers, case.user, reply)];
            let advantages =
                Normalisation::Joint.advantages(&group.iter().map(paid).collect::<Vec<_>>(), &[1.0]);
            paths.extend(group.into_iter().zip(advantages).map(|((_, path), advantage)| (path, advantage)));
        }
        let paths: Vec<(&[Choice], f64)> =
            paths.iter().map(|(path, advantage)| (path.as_slice(), *advantage)).collect();
        policy.climb(&paths, None, self.learning_rate);
    }

    /// A policy on fresh cases, the same for every arm.
    fn found(&self, policy: &Chooser, catalogue: &Catalogue, scorers: &Scorers, seed: &Seed) -> Found {
        let mut stream = seed.child("evaluation", 0).stream();
        let cases =
            (0..self.evaluation).filter_map(|_| Case::draw(catalogue, &mut stream)).collect::<Vec<_>>();
        let replies: Vec<(&User, Reply)> =
            cases.iter().map(|case| (case.user, recommend(policy, case, &mut stream).0)).collect();
        let over = |of: &dyn Fn(&User, &Reply) -> f64| {
            mean(&replies.iter().map(|(user, reply)| of(user, reply)).collect::<Vec<_>>())
        };
        let wrong = replies.iter().filter(|(_, reply)| !reply.follows() || !reply.is_true()).count();
        Found {
            clicks: over(&|user, reply| self.click(user, reply)),
            // By the rule of succession, so that a ratio has a meaning where there is none.
            violations: (wrong as f64 + 1.0) / (replies.len() as f64 + 2.0),
            learned: over(&|_, reply| gated(reply.follows(), scorers.of(&reply.words(ROWS)))),
            exact: over(&|user, reply| gated(reply.follows(), exact(user, reply))),
            axes: [0, 1, 2, 3].map(|axis| over(&|user, reply| exact(user, reply)[axis])),
        }
    }
}

/// What a recommender is worth: the chance of a click, the share of replies that break a rule or make something up, the gated
/// reward as it is learned and as it is, and every axis by itself, never the mean alone.
struct Found {
    clicks: f64,
    violations: f64,
    learned: f64,
    exact: f64,
    axes: [f64; 4],
}
