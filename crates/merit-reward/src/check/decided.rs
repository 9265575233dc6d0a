//! Every threshold in a reward in one shape, and whether the values it looks at leave anything to decide.

use super::tree::{Part, Tree};
use crate::range::Range;
use crate::{ChecklistConfig, LexicographicConfig, RewardConfig, RubricConfig, StagedConfig, VetoConfig};

/// A threshold of a part.
pub(crate) struct Threshold {
    pub(crate) at: String,
    /// Who passes or falls, for a sentence.
    pub(crate) subject: String,
    /// What decides can come to this.
    pub(crate) range: Range,
    pub(crate) bound: Bound,
    pub(crate) condition: String,
    /// Holding is a veto.
    pub(crate) vetoes: bool,
    /// It chooses between branches.
    pub(crate) gate: bool,
    /// Places that never count where it never holds, and where it always does.
    pub(crate) lost_if_never: Vec<String>,
    pub(crate) lost_if_always: Vec<String>,
}

/// Where a threshold holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    AtLeast(f64),
    Above(f64),
    AtMost(f64),
    Below(f64),
}

/// What intervals alone say of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decided {
    Never,
    Always,
}

impl Threshold {
    fn new(at: impl Into<String>, subject: impl Into<String>, range: Range, bound: Bound) -> Self {
        let condition = match bound {
            Bound::AtLeast(b) => format!("at least {b}"),
            Bound::Above(b) => format!("above {b}"),
            Bound::AtMost(b) => format!("at most {b}"),
            Bound::Below(b) => format!("below {b}"),
        };
        Self {
            at: at.into(),
            subject: subject.into(),
            range,
            bound,
            condition,
            vetoes: false,
            gate: false,
            lost_if_never: Vec::new(),
            lost_if_always: Vec::new(),
        }
    }

    /// Absent: it depends on the episode.
    pub(crate) fn decided(&self) -> Option<Decided> {
        let Range { low, high } = self.range;
        let (never, always) = match self.bound {
            Bound::AtLeast(b) => (high < b, low >= b),
            Bound::Above(b) => (high <= b, low > b),
            Bound::AtMost(b) => (low > b, high <= b),
            Bound::Below(b) => (low >= b, high < b),
        };
        if never { Some(Decided::Never) } else { always.then_some(Decided::Always) }
    }

    /// Every threshold of one part.
    pub(crate) fn of(tree: &Tree<'_>, part: &Part<'_>) -> Vec<Self> {
        let at = part.at;
        match part.config {
            RewardConfig::Gate(gate) => {
                let Some(range) = tree.deciding(at, "when", &gate.when) else { return Vec::new() };
                let shut = gate.otherwise.iter().map(|_| format!("{at}.otherwise")).collect();
                let new = Self::new(at, "the gate", range, Bound::AtLeast(gate.at_least));
                vec![Self {
                    gate: true,
                    lost_if_never: vec![format!("{at}.then")],
                    lost_if_always: shut,
                    ..new
                }]
            }
            RewardConfig::Veto(veto) => of_veto(tree, at, veto).into_iter().collect(),
            RewardConfig::Lexicographic(tiers) => of_tiers(tree, at, tiers),
            RewardConfig::Staged(staged) => of_stages(tree, at, staged),
            RewardConfig::Checklist(checklist) => of_items(tree, at, checklist),
            RewardConfig::Rubric(rubric) => of_axes(tree, at, rubric),
            RewardConfig::SolvedBy(solved) => {
                let raw = tree.raw(&solved.term);
                let subject = format!("`{}`, which tells that a task was solved,", solved.term);
                raw.map(|range| Self::new(at, subject, range, Bound::AtLeast(solved.at_least)))
                    .into_iter()
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

fn of_veto(tree: &Tree<'_>, at: &str, veto: &VetoConfig) -> Option<Threshold> {
    let range = tree.deciding(at, "when", &veto.when)?;
    let bounds = [
        veto.below.map(Bound::Below),
        veto.at_most.map(Bound::AtMost),
        veto.above.map(Bound::Above),
        veto.at_least.map(Bound::AtLeast),
    ];
    let bound = bounds.into_iter().flatten().next()?;
    let lost_if_always = vec![format!("{at}.then")];
    Some(Threshold { vetoes: true, lost_if_always, ..Threshold::new(at, "the veto", range, bound) })
}

fn of_tiers(tree: &Tree<'_>, at: &str, config: &LexicographicConfig) -> Vec<Threshold> {
    let place = |i: usize| format!("{at}.tiers[{i}].of");
    let tier = |(i, tier): (usize, &crate::TierConfig)| {
        let range = tree.part(&place(i))?.range;
        let lost_if_never = (i + 1..config.tiers.len()).map(place).collect();
        let new = Threshold::new(place(i), format!("tier {i}"), range, Bound::AtLeast(tier.pass?));
        Some(Threshold { lost_if_never, ..new })
    };
    config.tiers.iter().enumerate().filter_map(tier).collect()
}

fn of_stages(tree: &Tree<'_>, at: &str, config: &StagedConfig) -> Vec<Threshold> {
    let place = |i: usize| format!("{at}.stages[{i}].of");
    let stage = |(i, stage): (usize, &crate::StageConfig)| {
        let range = match &stage.mastered_by {
            Some(by) => tree.deciding(at, &format!("stages[{i}].mastered_by"), by)?,
            None => tree.part(&place(i))?.range,
        };
        let lost_if_never = (i + 1..config.stages.len()).map(place).collect();
        let new = Threshold::new(place(i), format!("stage {i}"), range, Bound::AtLeast(stage.mastered_at?));
        Some(Threshold { lost_if_never, ..new })
    };
    config.stages.iter().enumerate().filter_map(stage).collect()
}

fn of_items(tree: &Tree<'_>, at: &str, config: &ChecklistConfig) -> Vec<Threshold> {
    let item = |(i, item): (usize, &crate::ItemConfig)| {
        let range = tree.deciding(at, &format!("items[{i}].check"), &item.check)?;
        let waits = |other: &crate::ItemConfig| other.needs.contains(&item.name);
        let later =
            config.items.iter().enumerate().filter(|(j, other)| waits(other) || (item.required && *j > i));
        let lost_if_never = later.map(|(j, _)| format!("{at}.items[{j}]")).collect();
        let place = format!("{at}.items[{i}]");
        let new =
            Threshold::new(place, format!("item `{}`", item.name), range, Bound::AtLeast(item.at_least));
        Some(Threshold { lost_if_never, ..new })
    };
    config.items.iter().enumerate().filter_map(item).collect()
}

fn of_axes(tree: &Tree<'_>, at: &str, config: &RubricConfig) -> Vec<Threshold> {
    let range = |i: usize| tree.deciding(at, &format!("axes[{i}].of"), &config.axes.get(i)?.of);
    let mut found = Vec::new();
    for (i, axis) in config.axes.iter().enumerate() {
        if let (Some(range), Some(below)) = (range(i), axis.veto_below) {
            let new = Threshold::new(
                format!("{at}.axes[{i}]"),
                format!("the veto of axis `{}`", axis.name),
                range,
                Bound::Below(below),
            );
            found.push(Threshold { vetoes: true, lost_if_always: vec![at.to_owned()], ..new });
        }
    }
    let gate = config.gate.iter().filter_map(|gate| {
        let axis = config.axes.iter().position(|axis| axis.name == gate.axis)?;
        let guards = config.axes.iter().enumerate().filter(|(i, other)| match &gate.guards {
            Some(names) => names.contains(&other.name),
            None => *i != axis,
        });
        let lost_if_never = guards.map(|(i, _)| format!("{at}.axes[{i}].of")).collect();
        let subject = format!("the gate of axis `{}`", gate.axis);
        let new = Threshold::new(at, subject, range(axis)?, Bound::AtLeast(gate.at_least));
        Some(Threshold { gate: true, lost_if_never, ..new })
    });
    found.extend(gate);
    found
}
