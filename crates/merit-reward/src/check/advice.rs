//! What a combinator tells the checker of rewards about itself: thresholds, sums, parts that can never count.

use super::tree::Tree;
use crate::condition::Condition;
use crate::range::Range;
use merit_core::Task;

/// Collects what a combinator tells about itself, and answers what its parts can come to. Places below the combinator are
/// written as in the file, e.g. `tiers[0].of`.
pub struct Advice<'a> {
    pub(crate) tree: &'a Tree<'a>,
    pub(crate) at: &'a str,
    pub(crate) told: Told,
}

#[derive(Default)]
pub(crate) struct Told {
    pub(crate) thresholds: Vec<Threshold>,
    /// Places of parts that are added up, with how far each can move the sum.
    pub(crate) added: Vec<(String, f64)>,
    /// Places of parts whose turn never comes; why; what to do.
    pub(crate) never: Vec<(String, String, &'static str)>,
    /// A part that is always 0 makes everything beside it 0.
    pub(crate) multiplies: bool,
    /// It says something about the part inside and changes no value.
    pub(crate) transparent: bool,
    /// The part of which any number of turns is added up.
    pub(crate) farmed: Option<String>,
    /// What it would keep if the policy had learned all that it can: key and numbers.
    pub(crate) kept: Vec<(String, Vec<f64>)>,
    /// Kinds of task that it tells apart.
    pub(crate) tasks: Vec<Task>,
    /// The term that tells whether a task was solved.
    pub(crate) solved_by: Option<String>,
}

impl<'a> Advice<'a> {
    /// Asks `combinator`, which stands at `at`.
    pub(crate) fn ask(tree: &'a Tree<'a>, at: &'a str, config: &crate::RewardConfig) -> Told {
        let mut advice = Self { tree, at, told: Told::default() };
        if let crate::config::Part::Combinator(combinator) = &config.0 {
            combinator.advise(&mut advice);
        }
        advice.told
    }

    /// The whole place of a part below.
    pub fn place(&self, below: &str) -> String {
        if below.is_empty() { self.at.to_owned() } else { format!("{}.{below}", self.at) }
    }

    /// What the part at `below` can come to.
    pub fn range(&self, below: &str) -> Option<Range> {
        Some(self.tree.part(&self.place(below))?.range)
    }

    /// What a condition can decide by; `key` is the setting that holds it.
    pub fn deciding(&self, key: &str, condition: &Condition) -> Option<Range> {
        match condition {
            Condition::Term(name) => self.raw(name),
            Condition::Expression(_) => self.range(key),
        }
    }

    /// The raw values of the term called `name`.
    pub fn raw(&self, name: &str) -> Option<Range> {
        self.tree.raw(name)
    }

    /// A threshold: it chooses, vetoes or passes by what something comes to.
    pub fn threshold(&mut self, threshold: Threshold) {
        let whole = |below: &Vec<String>| below.iter().map(|below| self.place(below)).collect();
        let placed = Threshold {
            at: self.place(&threshold.at),
            lost_if_never: whole(&threshold.lost_if_never),
            lost_if_always: whole(&threshold.lost_if_always),
            ..threshold
        };
        self.told.thresholds.push(placed);
    }

    /// The part at `below` is added to others, multiplied by `factor`.
    pub fn adds(&mut self, below: &str, factor: f64) {
        let width = self.range(below).map_or(0.0, |range| range.width() * factor);
        self.adds_width(below, width);
    }

    /// The part at `below` is added to others and moves the sum by at most `width`.
    pub fn adds_width(&mut self, below: &str, width: f64) {
        self.told.added.push((self.place(below), width));
    }

    /// The part at `below` can never count.
    pub fn never(&mut self, below: &str, why: impl Into<String>, advice: &'static str) {
        self.told.never.push((self.place(below), why.into(), advice));
    }

    /// A part that is always 0 makes everything beside it 0.
    pub fn multiplies(&mut self) {
        self.told.multiplies = true;
    }

    /// It changes no value of the part inside.
    pub fn transparent(&mut self) {
        self.told.transparent = true;
    }

    /// Any number of turns of the part at `below` is added up.
    pub fn farms(&mut self, below: &str) {
        self.told.farmed = Some(self.place(below));
    }

    /// What it would keep under `key` if the policy had learned all that it can.
    pub fn keeps(&mut self, key: &str, numbers: Vec<f64>) {
        self.told.kept.push((format!("{}{key}", self.at), numbers));
    }

    /// A kind of task that it tells apart from others.
    pub fn tells_apart(&mut self, task: Task) {
        self.told.tasks.push(task);
    }

    /// The term called `name` tells whether a task was solved.
    pub fn solved_by(&mut self, name: &str) {
        self.told.solved_by = Some(name.to_owned());
    }
}

/// A threshold of a combinator.
#[derive(Debug, Clone)]
pub struct Threshold {
    /// Where it stands, below the combinator; empty for the combinator itself.
    pub at: String,
    /// Who passes or falls, for a sentence.
    pub subject: String,
    /// What decides can come to this.
    pub range: Range,
    pub bound: Bound,
    /// Whether the reward is 0 where it holds.
    pub vetoes: bool,
    /// It chooses between branches.
    pub gate: bool,
    /// Places that never count where it never holds.
    pub lost_if_never: Vec<String>,
    /// Places that never count where it always holds.
    pub lost_if_always: Vec<String>,
}

/// Where a threshold holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    AtLeast(f64),
    Above(f64),
    /// Up to this value.
    AtMost(f64),
    Below(f64),
}

impl Bound {
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(bound) => value >= bound,
            Self::Above(bound) => value > bound,
            Self::AtMost(bound) => value <= bound,
            Self::Below(bound) => value < bound,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtLeast(bound) => write!(f, "at least {bound}"),
            Self::Above(bound) => write!(f, "above {bound}"),
            Self::AtMost(bound) => write!(f, "at most {bound}"),
            Self::Below(bound) => write!(f, "below {bound}"),
        }
    }
}

/// What intervals alone say of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decided {
    Never,
    Always,
}

impl Threshold {
    /// A threshold at `at`, below the combinator.
    pub fn new(at: impl Into<String>, subject: impl Into<String>, range: Range, bound: Bound) -> Self {
        Self {
            at: at.into(),
            subject: subject.into(),
            range,
            bound,
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
}
