//! From config to a checked expression: names resolved, bounds checked, every error with its place.

use crate::check::Advice;
use crate::condition::{Condition, Deciding};
use crate::config::{Part, RewardConfig};
use crate::error::{Problem, RewardError};
use crate::error_rates::ErrorRates;
use crate::expression::{Node, Slot, StateUpdate, TermAt};
use crate::range::Range;
use crate::term::{CommonSettings, ParseFailurePath, Term};
use merit_core::registry::{Chosen, Kind, Refusal};
use std::any::Any;
use std::sync::Arc;

/// A combinator of a reward: the settings struct, which compiles the parts inside and then itself.
///
/// ```
/// use merit_reward::prelude::*;
///
/// /// Half of what a part comes to.
/// #[derive(Debug, Serialize, Deserialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Half { of: Box<RewardConfig> }
///
/// impl Component for Half {
///     const ABOUT: About = About { name: "half", summary: "Half of a part.", paper: "" };
///     const EXAMPLE: &'static str = "of = { type = 'format' }";
/// }
///
/// impl Combinator for Half {
///     fn children(&self) -> Vec<&RewardConfig> { vec![&self.of] }
///
///     fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
///         Ok(Arc::new(HalfNode(compiler.part("of", &self.of)?)))
///     }
/// }
///
/// struct HalfNode(Node);
///
/// impl Expression for HalfNode {
///     fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
///         evaluate(self.0.as_ref(), context, tracer).map(|value| value / 2.0)
///     }
///
///     fn label(&self, _: &NodeContext<'_>) -> String { "half".to_owned() }
///
///     fn range(&self, terms: &[Range]) -> Range { self.0.range(terms).scaled(0.5) }
/// }
///
/// let components = merit_reward::register(Components::default()).with(entry!(Half as dyn Combinator));
/// let config = components.reading(|| RewardConfig::from_toml("type = 'half'\nof = { type = 'exact-answer' }"))?;
/// assert_eq!(Scorer::compile(&config)?.range().high, 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Combinator: Any + Send + Sync {
    /// The parts inside, in the order in which their terms are listed and compiled.
    fn children(&self) -> Vec<&RewardConfig>;

    /// Compiles the parts inside, in the order of `children`, and then itself.
    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError>;

    /// What the checker of rewards should know of it. Most combinators have nothing to tell: their range says enough.
    fn advise(&self, _advice: &mut Advice<'_>) {}
}

impl Kind for dyn Combinator {
    const KIND: &'static str = "reward combinator";
}

/// A term that is ready, with its common settings.
pub(crate) struct CompiledTerm {
    pub(crate) name: String,
    pub(crate) weight: f64,
    pub(crate) on_parse_failure: ParseFailurePath,
    /// Absent: the verdict stands as it is.
    pub(crate) errors: Option<ErrorRates>,
    pub(crate) range: Range,
    pub(crate) term: Arc<dyn Term>,
}

impl CompiledTerm {
    /// The weighted values it can enter with, parse failures included.
    pub(crate) fn weighted_range(&self) -> Range {
        let raw = match self.on_parse_failure {
            ParseFailurePath::Value(value) if value != 0.0 => self.range.hull(Range::only(value)),
            _ => self.range,
        };
        raw.scaled(self.weight)
    }
}

/// Walks a reward once and collects its terms, its slots and what it keeps. A combinator compiles its parts with it.
pub struct Compiler {
    pub(crate) terms: Vec<CompiledTerm>,
    /// Parts that are evaluated for the whole batch first, inner ones before outer ones.
    pub(crate) slots: Vec<Node>,
    /// Parts that keep something for the next step.
    pub(crate) updates: Vec<Arc<dyn StateUpdate>>,
    /// Every part with its place, those inside before the one around them.
    pub(crate) places: Vec<(String, Node)>,
    /// Term that tells whether the task was solved, and from which raw value on.
    pub(crate) solved: Option<(usize, f64)>,
    names: Vec<String>,
    path: Vec<String>,
    /// Whether the part under way is evaluated turn by turn.
    by_turn: bool,
}

impl Compiler {
    pub(crate) fn new(config: &RewardConfig) -> Self {
        Self {
            terms: Vec::new(),
            slots: Vec::new(),
            updates: Vec::new(),
            places: Vec::new(),
            solved: None,
            names: config.term_names(),
            path: vec!["reward".to_owned()],
            by_turn: false,
        }
    }

    /// Compiles a part at `place` below the current one.
    pub fn part(&mut self, place: impl Into<String>, config: &RewardConfig) -> Result<Node, RewardError> {
        self.path.push(place.into());
        let expression = self.compile(config)?;
        self.path.pop();
        Ok(expression)
    }

    /// Compiles a part that is evaluated turn by turn.
    pub fn part_by_turn(
        &mut self,
        place: impl Into<String>,
        config: &RewardConfig,
    ) -> Result<Node, RewardError> {
        let outside = std::mem::replace(&mut self.by_turn, true);
        let part = self.part(place, config);
        self.by_turn = outside;
        part
    }

    /// Compiles the list `of` of a combinator.
    pub fn list(&mut self, combinator: &'static str, of: &[RewardConfig]) -> Result<Vec<Node>, RewardError> {
        if of.is_empty() {
            return Err(self.error(Problem::Empty { combinator }));
        }
        of.iter().enumerate().map(|(i, config)| self.part(format!("of[{i}]"), config)).collect()
    }

    /// Has `part` evaluated for every episode of the batch before the expression is. Inside a part that looks at single
    /// turns a slot would show whole episodes, so the parts that need one refuse to stand there.
    pub fn slot(&mut self, part: &Node) -> Slot {
        self.slots.push(Arc::clone(part));
        Slot(self.slots.len() - 1)
    }

    /// Has `update` called after every batch.
    pub fn after_batch(&mut self, update: Arc<dyn StateUpdate>) {
        self.updates.push(update);
    }

    /// Where the part under way stands, e.g. `reward.of[1]`: the key of what it keeps.
    pub fn place(&self) -> String {
        self.path.join(".")
    }

    pub(crate) fn compile(&mut self, config: &RewardConfig) -> Result<Node, RewardError> {
        let node = match &config.0 {
            Part::Combinator(combinator) => combinator.compile(self),
            Part::Term(common, term) => self.term(common, term),
        }?;
        self.places.push((self.place(), Arc::clone(&node)));
        Ok(node)
    }

    fn term(&mut self, common: &CommonSettings, chosen: &Chosen<dyn Term>) -> Result<Node, RewardError> {
        let (kind, term) = (chosen.kind(), chosen.about().name);
        let name = common.name.clone().unwrap_or_else(|| term.to_owned());
        let on_parse_failure = common.on_parse_failure.unwrap_or_default();
        self.check_common(&name, common, on_parse_failure)?;
        if common.errors.is_some() && !kind.judges {
            return Err(self.error(Problem::NoVerdict { term }));
        }
        if on_parse_failure != ParseFailurePath::default() && !(kind.parses || kind.needs_a_turn) {
            return Err(self.error(Problem::NoParse { term }));
        }
        let prepared = chosen.prepare().map_err(|refusal| self.refused(refusal))?;
        self.terms.push(CompiledTerm {
            name,
            weight: common.weight,
            on_parse_failure,
            errors: common.errors,
            range: kind.range,
            term: prepared.unwrap_or_else(|| chosen.component()),
        });
        Ok(Arc::new(TermAt(self.terms.len() - 1)))
    }

    /// What decides a gate or a veto.
    pub fn condition(&mut self, when: &Condition) -> Result<Deciding, RewardError> {
        match when {
            Condition::Term(name) => Ok(Deciding::Term(self.find(name)?)),
            Condition::Expression(config) => Ok(Deciding::Expression(self.part("when", config)?)),
        }
    }

    /// The position of the term called `name`, which may come later in the file.
    pub fn find(&self, name: &str) -> Result<usize, RewardError> {
        self.names
            .iter()
            .position(|known| known == name)
            .ok_or_else(|| self.error(Problem::no_such("term", name, self.names.iter().map(String::as_str))))
    }

    /// `value`, unless it is infinite or not a number.
    pub fn finite(&self, field: &'static str, value: f64) -> Result<f64, RewardError> {
        if value.is_finite() { Ok(value) } else { Err(self.error(Problem::NotFinite { field, value })) }
    }

    /// Whether the part under way is the whole reward.
    pub fn outermost(&self) -> bool {
        self.path.len() == 1
    }

    /// Refuses `combinator` inside a part that is evaluated turn by turn, where it could only see whole episodes.
    pub fn whole_episodes(&self, combinator: &'static str) -> Result<(), RewardError> {
        if self.by_turn { Err(self.error(Problem::InsideTurns { combinator })) } else { Ok(()) }
    }

    /// A refusal by the part under way.
    pub fn refused(&self, refusal: Refusal) -> RewardError {
        self.error(Problem::Setting(refusal.why))
    }

    /// An error with the place of the part under way.
    pub fn error(&self, problem: Problem) -> RewardError {
        RewardError { at: self.path.join("."), problem }
    }

    fn check_common(
        &self,
        name: &str,
        common: &CommonSettings,
        on_parse_failure: ParseFailurePath,
    ) -> Result<(), RewardError> {
        if name.trim().is_empty() {
            return Err(self.error(Problem::EmptyName));
        }
        if self.terms.iter().any(|known| known.name == name) {
            return Err(self.error(Problem::DuplicateName { name: name.to_owned() }));
        }
        self.finite("weight", common.weight)?;
        if let ParseFailurePath::Value(value) = on_parse_failure {
            self.finite("on_parse_failure.value", value)?;
        }
        match common.errors.and_then(|errors| errors.wrong()) {
            Some((field, value)) => Err(self.error(Problem::NotAShare { field, value })),
            None => Ok(()),
        }
    }
}
