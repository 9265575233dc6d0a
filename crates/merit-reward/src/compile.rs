//! From config to a checked expression: names resolved, bounds checked, every error with its place.

use crate::condition::{Condition, Deciding};
use crate::config::{Part, RewardConfig};
use crate::error::{Problem, RewardError};
use crate::expression::{Node, Slot, TermAt, Watcher};
use crate::range::Range;
use crate::term::{ParseFailurePath, Settings, Term, TermConfig};
use merit_core::registry::{UnknownName, nearest};
use std::sync::Arc;

/// The config of a combinator.
pub(crate) trait Combinator {
    /// The parts inside, in the order in which their terms are listed and compiled.
    fn children(&self) -> Vec<&RewardConfig>;

    /// Compiles the parts inside, in the order of `children`, and then itself.
    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError>;
}

/// A term with its settings.
pub(crate) struct CompiledTerm {
    pub(crate) settings: Settings,
    pub(crate) range: Range,
    pub(crate) term: Box<dyn Term>,
}

impl CompiledTerm {
    /// The weighted values it can enter with, parse failures included.
    pub(crate) fn weighted_range(&self) -> Range {
        let raw = match self.settings.on_parse_failure {
            ParseFailurePath::Value(value) if value != 0.0 => self.range.hull(Range::only(value)),
            _ => self.range,
        };
        raw.scaled(self.settings.weight)
    }
}

/// Walks the config once, collecting terms, slots and watchers.
pub(crate) struct Compiler {
    pub(crate) terms: Vec<CompiledTerm>,
    /// Parts that are evaluated for the whole batch first, inner ones before outer ones.
    pub(crate) slots: Vec<Node>,
    /// Parts that keep something for the next step.
    pub(crate) watchers: Vec<Arc<dyn Watcher>>,
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
            watchers: Vec::new(),
            places: Vec::new(),
            solved: None,
            names: config.term_names(),
            path: vec!["reward".to_owned()],
            by_turn: false,
        }
    }

    /// Compiles a part at `place` below the current one.
    pub(crate) fn part(
        &mut self,
        place: impl Into<String>,
        config: &RewardConfig,
    ) -> Result<Node, RewardError> {
        self.path.push(place.into());
        let expression = self.compile(config)?;
        self.path.pop();
        Ok(expression)
    }

    /// Compiles a part that is evaluated turn by turn.
    pub(crate) fn part_by_turn(
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
    pub(crate) fn list(
        &mut self,
        combinator: &'static str,
        of: &[RewardConfig],
    ) -> Result<Vec<Node>, RewardError> {
        if of.is_empty() {
            return Err(self.error(Problem::Empty { combinator }));
        }
        of.iter().enumerate().map(|(i, config)| self.part(format!("of[{i}]"), config)).collect()
    }

    /// Has `part` evaluated for every episode of the batch before the expression is. Inside a part that looks at single
    /// turns a slot would show whole episodes, so the parts that need one refuse to stand there.
    pub(crate) fn slot(&mut self, part: &Node) -> Slot {
        self.slots.push(Arc::clone(part));
        Slot(self.slots.len() - 1)
    }

    /// Has `watcher` told of every batch.
    pub(crate) fn watch(&mut self, watcher: Arc<dyn Watcher>) {
        self.watchers.push(watcher);
    }

    /// Where the part under way stands, e.g. `reward.of[1]`: the key of what it keeps.
    pub(crate) fn place(&self) -> String {
        self.path.join(".")
    }

    pub(crate) fn compile(&mut self, config: &RewardConfig) -> Result<Node, RewardError> {
        let node = match config.part() {
            Part::Combinator(combinator) => combinator.compile(self),
            Part::Term(term) => self.term(term, config.component().about.name),
        }?;
        self.places.push((self.place(), Arc::clone(&node)));
        Ok(node)
    }

    fn term(&mut self, config: &dyn TermConfig, kind: &'static str) -> Result<Node, RewardError> {
        let settings = config.settings();
        let nature = config.nature();
        self.check_settings(&settings)?;
        if settings.errors.is_some() && !nature.judges {
            return Err(self.error(Problem::NoVerdict { term: kind }));
        }
        if settings.on_parse_failure != ParseFailurePath::default() && !nature.parses {
            return Err(self.error(Problem::NoParse { term: kind }));
        }
        let term = config.term().map_err(|problem| self.error(problem))?;
        self.terms.push(CompiledTerm { settings, range: nature.range, term });
        Ok(Arc::new(TermAt(self.terms.len() - 1)))
    }

    /// What decides a gate or a veto.
    pub(crate) fn condition(&mut self, when: &Condition) -> Result<Deciding, RewardError> {
        match when {
            Condition::Term(name) => Ok(Deciding::Term(self.find(name)?)),
            Condition::Expression(config) => Ok(Deciding::Expression(self.part("when", config)?)),
        }
    }

    /// The position of the term called `name`, which may come later in the file.
    pub(crate) fn find(&self, name: &str) -> Result<usize, RewardError> {
        self.names.iter().position(|known| known == name).ok_or_else(|| {
            let nearest = nearest(name, self.names.iter().map(String::as_str));
            let unknown =
                UnknownName { kind: "term", name: name.to_owned(), nearest, known: self.names.clone() };
            self.error(Problem::UnknownTerm(unknown))
        })
    }

    pub(crate) fn finite(&self, field: &'static str, value: f64) -> Result<f64, RewardError> {
        if value.is_finite() { Ok(value) } else { Err(self.error(Problem::NotFinite { field, value })) }
    }

    pub(crate) fn outermost(&self) -> bool {
        self.path.len() == 1
    }

    /// Refuses `combinator` inside a part that is evaluated turn by turn, where it could only see whole episodes.
    pub(crate) fn whole_episodes(&self, combinator: &'static str) -> Result<(), RewardError> {
        if self.by_turn { Err(self.error(Problem::InsideTurns { combinator })) } else { Ok(()) }
    }

    pub(crate) fn error(&self, problem: Problem) -> RewardError {
        RewardError { at: self.path.join("."), problem }
    }

    fn check_settings(&self, settings: &Settings) -> Result<(), RewardError> {
        if settings.name.trim().is_empty() {
            return Err(self.error(Problem::EmptyName));
        }
        if self.terms.iter().any(|known| known.settings.name == settings.name) {
            return Err(self.error(Problem::DuplicateName { name: settings.name.clone() }));
        }
        self.finite("weight", settings.weight)?;
        if let ParseFailurePath::Value(value) = settings.on_parse_failure {
            self.finite("on_parse_failure.value", value)?;
        }
        match settings.errors.and_then(|errors| errors.wrong()) {
            Some((field, value)) => Err(self.error(Problem::NotAShare { field, value })),
            None => Ok(()),
        }
    }
}
