//! A system: one published claim as a file.

use crate::experiment::{Experiment, ExperimentTable, resolve};
use crate::{Arm, Claim, LabError};
use merit_core::settings;
use merit_run::overrides::merge;
use merit_run::toml_error::locate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// A published system, read and checked.
#[derive(Debug, Clone)]
pub struct System {
    pub name: String,
    /// One line: the mechanism.
    pub about: String,
    pub paper: String,
    /// What was replaced, and what is therefore not tested.
    pub scope: String,
    /// How well the published text is known.
    pub confidence: String,
    pub parts: Vec<Part>,
}

/// One experiment of a system with its arms and claims.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Name in tables and of cells.
    #[serde(default = "main_part")]
    pub name: String,
    /// How many seeds, from 1.
    #[serde(default)]
    pub seeds: u64,
    /// What the arms run: `type` names a study, or is `recipe`.
    #[schemars(with = "ExperimentTable")]
    pub experiment: toml::Table,
    /// What a cell may spend on the axes that must be equal.
    #[serde(default)]
    pub budget: BTreeMap<String, f64>,
    /// The arms that are compared.
    pub arms: Vec<Arm>,
    /// What must be true for the claims to mean anything.
    #[serde(default)]
    pub premises: Vec<Claim>,
    /// What the paper says, as comparisons of arms.
    pub claims: Vec<Claim>,
    /// Laid over every arm for a smoke.
    #[serde(default)]
    #[schemars(with = "merit_core::registry::AnyTable")]
    pub smoke: toml::Table,
    /// Laid over the budget for a smoke.
    #[serde(default)]
    pub smoke_budget: BTreeMap<String, f64>,
}

fn main_part() -> String {
    "main".into()
}

/// The keys of a system file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SystemFile {
    /// The name used on the command line.
    name: String,
    /// One line: the mechanism.
    about: String,
    /// Where it was published.
    paper: String,
    /// What was replaced, and what is therefore not tested.
    scope: String,
    /// How well the published text is known.
    confidence: String,
    /// How many seeds, from 1, for parts that say nothing else.
    #[serde(default = "five")]
    seeds: u64,
    /// What the arms run, where there is one part.
    #[schemars(with = "Option<ExperimentTable>")]
    experiment: Option<toml::Table>,
    /// What a cell may spend on the axes that must be equal.
    #[serde(default)]
    budget: BTreeMap<String, f64>,
    /// What is compared.
    #[serde(default)]
    arms: Vec<Arm>,
    /// What must be true for the claims to mean anything.
    #[serde(default)]
    premises: Vec<Claim>,
    /// What the paper says, as comparisons of arms.
    #[serde(default)]
    claims: Vec<Claim>,
    /// Laid over every arm for a smoke.
    #[serde(default)]
    #[schemars(with = "merit_core::registry::AnyTable")]
    smoke: toml::Table,
    /// Laid over the budget for a smoke.
    #[serde(default)]
    smoke_budget: BTreeMap<String, f64>,
    /// Several experiments, each with arms and claims of its own.
    #[serde(default)]
    parts: Vec<Part>,
}

fn five() -> u64 {
    5
}

impl System {
    /// Reads and checks a system file: every key means something, every name exists, every arm can run.
    pub fn parse(file: &str, text: &str) -> Result<Self, LabError> {
        Self::parse_with(file, text, &[])
    }

    /// The same with `key=value` changes to the experiments of all parts.
    pub fn parse_with(file: &str, text: &str, changes: &[(String, String)]) -> Result<Self, LabError> {
        let read: SystemFile = settings::from_toml(text).map_err(|error| locate(file, text, &error))?;
        let refuse = |why: String| LabError::System { file: file.to_owned(), why };
        let seeds = read.seeds;
        let mut parts = match read.experiment {
            Some(_) if !read.parts.is_empty() => {
                return Err(refuse(
                    "has `experiment` and `parts`; give each part its own `experiment`".into(),
                ));
            }
            Some(experiment) => vec![Part {
                name: main_part(),
                seeds,
                experiment,
                budget: read.budget,
                arms: read.arms,
                premises: read.premises,
                claims: read.claims,
                smoke: read.smoke,
                smoke_budget: read.smoke_budget,
            }],
            None if read.parts.is_empty() => {
                return Err(refuse("has no `experiment`: what do its arms run?".into()));
            }
            None if !(read.arms.is_empty() && read.claims.is_empty() && read.premises.is_empty()) => {
                return Err(refuse("has `parts`; arms, premises and claims belong into them".into()));
            }
            None => read.parts,
        };
        for part in &mut parts {
            part.seeds = if part.seeds == 0 { seeds } else { part.seeds };
            for (key, value) in changes {
                let value = merit_run::overrides::parse_value(value);
                merit_run::overrides::set_path(&mut part.experiment, key, value).map_err(refuse)?;
            }
        }
        let (name, about, paper) = (read.name, read.about, read.paper);
        let system = Self { name, about, paper, scope: read.scope, confidence: read.confidence, parts };
        system.check(file, text)?;
        Ok(system)
    }

    fn check(&self, file: &str, text: &str) -> Result<(), LabError> {
        let refuse = |why: String| Err(LabError::System { file: file.to_owned(), why });
        let mut names: Vec<&str> = self.parts.iter().map(|part| part.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return refuse(format!("has two parts `{}`", twice[0]));
        }
        if !self.parts.iter().flat_map(|part| &part.claims).any(|claim| claim.required) {
            return refuse("has no required claim: there is nothing to decide".into());
        }
        for part in &self.parts {
            part.check().or_else(|why| refuse(format!("part `{}`: {why}", part.name)))?;
            for arm in &part.arms {
                for smoke in [false, true] {
                    resolve(file, text, part, arm, smoke)?;
                }
            }
        }
        Ok(())
    }

    /// Hash of everything that decides the result: arms with every default written out, budgets, margins, seeds.
    pub fn hash(&self) -> String {
        let parts: Vec<_> = self
            .parts
            .iter()
            .map(|part| {
                let settings = |arm: &Arm| resolve("", "", part, arm, false).map(|found| found.settings);
                let arms: Vec<_> = part
                    .arms
                    .iter()
                    .map(|arm| (&arm.name, arm.role, arm.equal, settings(arm).unwrap_or_default()))
                    .collect();
                (&part.name, part.seeds, &part.budget, arms, &part.premises, &part.claims)
            })
            .collect();
        let text = serde_json::to_string(&(&self.name, parts)).unwrap_or_default();
        merit_core::hex(&Sha256::digest(text.as_bytes()))[..16].to_owned()
    }
}

impl Part {
    fn check(&self) -> Result<(), String> {
        if !(1..=1000).contains(&self.seeds) {
            return Err(format!("`seeds` is {}; it must lie between 1 and 1000", self.seeds));
        }
        let arms: Vec<&str> = self.arms.iter().map(|arm| arm.name.as_str()).collect();
        let plain = |name: &str| {
            !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        };
        if let Some(odd) = arms.iter().find(|name| !plain(name)) {
            return Err(format!("the arm `{odd}` must be named with letters, digits, `-`, `_` and `.`"));
        }
        if !plain(&self.name) {
            return Err("its name must be of letters, digits, `-`, `_` and `.`".into());
        }
        let mut sorted = arms.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("has two arms `{}`", twice[0]));
        }
        if let Some((axis, most)) =
            self.budget.iter().chain(&self.smoke_budget).find(|(_, most)| **most <= 0.0)
        {
            return Err(format!("`budget.{axis}` is {most}; it must be above 0"));
        }
        for (kind, claims) in [("premise", &self.premises), ("claim", &self.claims)] {
            for claim in claims {
                claim.check(&arms).map_err(|why| format!("the {kind} \"{}\" {why}", claim.says))?;
                let beyond = self.arms.iter().find(|arm| !arm.core && claim.names(&arm.name));
                if let Some(arm) = beyond.filter(|_| claim.required) {
                    return Err(format!(
                        "the {kind} \"{}\" rests on `{}`, which is not `core`; say `required = false`, or make it core",
                        claim.says, arm.name
                    ));
                }
            }
        }
        Ok(())
    }

    /// The settings of an arm: the experiment with what the arm sets laid over it.
    pub(crate) fn settings(&self, arm: &Arm, smoke: bool) -> toml::Table {
        let mut table = self.experiment.clone();
        merge(&mut table, &arm.set);
        if smoke {
            merge(&mut table, &self.smoke);
            merge(&mut table, &arm.smoke);
        }
        table
    }

    pub(crate) fn budget(&self, smoke: bool) -> BTreeMap<String, f64> {
        let mut budget = self.budget.clone();
        if smoke {
            budget.extend(self.smoke_budget.clone());
        }
        budget
    }

    /// What an arm runs.
    pub(crate) fn experiment(&self, file: &str, arm: &Arm, smoke: bool) -> Result<Experiment, LabError> {
        resolve(file, "", self, arm, smoke)
    }
}
