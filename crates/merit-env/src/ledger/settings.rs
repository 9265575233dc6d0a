//! The settings of `ledger`, what is refused of them, and which kinds of tasks they make.

use super::calls::CallForm;
use super::kinds::{Kind, MAX_WORDS};
use super::{MAX_DISTRACTORS, SIZES};
use merit_core::Stream;
use merit_core::registry::{About, Component, Refusal};
use merit_tools::FaultPlan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The settings of `ledger`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ledger {
    /// Entries per training task, dealt in turn; a size that is listed twice is dealt twice as often.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Whether the agent has the tools. False is the control: the same tasks, and every call is answered `no tools here`.
    pub tools: bool,
    /// Items in the table that no entry names.
    pub distractors: u32,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
    /// Disturbs both tools. Absent: they answer at once and never fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultPlan>,
    /// Shares of the kinds of tasks: `total`, `lookup`, `calc` and `sql`; they add up to 1. Tasks of `lookup` and `sql` have sizes of 1 to 4.
    #[serde(skip_serializing_if = "totals_alone")]
    pub kinds: BTreeMap<Kind, f64>,
    /// How calls are written: `line` or `json`.
    #[serde(skip_serializing_if = "CallForm::is_line")]
    pub call: CallForm,
    /// Share of the calls of demonstrations that cannot be read when they are first made, and are then made again; 0 to 1. Only with
    /// `call = "json"`.
    #[serde(skip_serializing_if = "is_zero")]
    pub unparsed: f64,
}

pub(super) fn totals_alone(kinds: &BTreeMap<Kind, f64>) -> bool {
    kinds.iter().all(|(kind, share)| kind.is_total() || *share == 0.0)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            sizes: vec![1, 2, 3],
            held_out_sizes: Vec::new(),
            tools: true,
            distractors: 3,
            instructions: false,
            faults: None,
            kinds: BTreeMap::from([(Kind::Total, 1.0)]),
            call: CallForm::Line,
            unparsed: 0.0,
        }
    }
}

impl Component for Ledger {
    const ABOUT: About = About {
        name: "ledger",
        summary: "Purchases to add up over several turns with a price lookup and a calculator.",
        paper: "",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list the sizes to train on, as in [1, 2, 3]"));
        }
        let (least, most) = (SIZES.start(), SIZES.end());
        for (name, sizes) in [("sizes", &self.sizes), ("held_out_sizes", &self.held_out_sizes)] {
            if let Some(size) = sizes.iter().find(|size| !SIZES.contains(size)) {
                return Err(Refusal::new(format!(
                    "`{name}` lists {size}; a task has {least} to {most} entries"
                )));
            }
        }
        if self.distractors > MAX_DISTRACTORS {
            return Err(Refusal::new(format!(
                "`distractors` is {}; at most {MAX_DISTRACTORS}",
                self.distractors
            )));
        }
        self.check_forms()?;
        match &self.faults {
            Some(_) if !self.tools => {
                Err(Refusal::new("`faults` needs `tools = true`: there is nothing to disturb"))
            }
            Some(plan) => plan.check().map_err(|refusal| Refusal::new(format!("`faults`: {refusal}"))),
            None => Ok(()),
        }
    }
}

impl Ledger {
    /// What is checked of kinds and calls.
    fn check_forms(&self) -> Result<(), Refusal> {
        let share = 0.0..=1.0;
        let sum: f64 = self.kinds.values().sum();
        if (sum - 1.0).abs() > 1e-6 || self.kinds.values().any(|one| !share.contains(one)) {
            return Err(Refusal::new(format!(
                "the shares in `kinds` add up to {sum}; give shares of 0 to 1 that add up to 1"
            )));
        }
        let mut sizes = self.sizes.iter().chain(&self.held_out_sizes);
        if self.has_words()
            && let Some(size) = sizes.find(|size| **size as usize > MAX_WORDS)
        {
            return Err(Refusal::new(format!(
                "a size of {size}: an answer of the kinds lookup and sql has a word for each entry, at most {MAX_WORDS}; give smaller sizes"
            )));
        }
        Refusal::unless(share.contains(&self.unparsed), "unparsed", self.unparsed, "a share, 0 to 1")?;
        match self.call {
            CallForm::Line if self.unparsed > 0.0 => Err(Refusal::new(
                "`unparsed` needs `call = \"json\"`: any line with a tool's name can be read",
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn has(&self, kind: Kind) -> bool {
        self.kinds.get(&kind).is_some_and(|share| *share > 0.0)
    }

    /// Whether some answers are words.
    pub(super) fn has_words(&self) -> bool {
        self.kinds.keys().any(|kind| kind.has_words() && self.has(*kind))
    }

    /// Whether there is more than totals and lines.
    pub(super) fn is_more(&self) -> bool {
        self.call == CallForm::Json || !totals_alone(&self.kinds)
    }

    pub(super) fn drawn_kind(&self, rng: &mut Stream) -> Kind {
        let mut left = rng.unit();
        let mut last = Kind::Total;
        for (kind, share) in self.kinds.iter().filter(|(_, share)| **share > 0.0) {
            last = *kind;
            left -= share;
            if left < 0.0 {
                break;
            }
        }
        last
    }
}
