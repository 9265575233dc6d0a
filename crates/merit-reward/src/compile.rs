//! From config to a checked expression: names resolved, bounds checked, every error with its place.

use crate::condition::{Condition, Deciding};
use crate::config::{Part, RewardConfig};
use crate::error::{Problem, RewardError};
use crate::evaluate::{Expression, TermAt};
use crate::term::{ParseFailurePath, Settings, Term};
use merit_core::registry::{UnknownName, nearest};

/// The config of a combinator.
pub(crate) trait Combinator {
    /// The parts inside, in the order in which their terms are listed.
    fn children(&self) -> Vec<&RewardConfig>;

    fn compile(&self, compiler: &mut Compiler) -> Result<Box<dyn Expression>, RewardError>;
}

/// A term with its settings.
pub(crate) struct CompiledTerm {
    pub(crate) settings: Settings,
    pub(crate) term: Box<dyn Term>,
}

/// Walks the config once, collecting terms.
pub(crate) struct Compiler {
    pub(crate) terms: Vec<CompiledTerm>,
    /// Term that tells whether the task was solved, and from which raw value on.
    pub(crate) solved: Option<(usize, f64)>,
    names: Vec<String>,
    path: Vec<String>,
}

impl Compiler {
    pub(crate) fn new(config: &RewardConfig) -> Self {
        let path = vec!["reward".to_owned()];
        Self { terms: Vec::new(), solved: None, names: config.term_names(), path }
    }

    /// Compiles a part at `place` below the current one.
    pub(crate) fn part(
        &mut self,
        place: impl Into<String>,
        config: &RewardConfig,
    ) -> Result<Box<dyn Expression>, RewardError> {
        self.path.push(place.into());
        let expression = self.compile(config)?;
        self.path.pop();
        Ok(expression)
    }

    /// Compiles the list `of` of a combinator.
    pub(crate) fn list(
        &mut self,
        combinator: &'static str,
        of: &[RewardConfig],
    ) -> Result<Vec<Box<dyn Expression>>, RewardError> {
        if of.is_empty() {
            return Err(self.error(Problem::Empty { combinator }));
        }
        of.iter().enumerate().map(|(i, config)| self.part(format!("of[{i}]"), config)).collect()
    }

    pub(crate) fn compile(&mut self, config: &RewardConfig) -> Result<Box<dyn Expression>, RewardError> {
        match config.part() {
            Part::Combinator(combinator) => combinator.compile(self),
            Part::Term(term) => {
                let settings = term.settings();
                self.check_settings(&settings)?;
                let term = term.term().map_err(|problem| self.error(problem))?;
                self.terms.push(CompiledTerm { settings, term });
                Ok(Box::new(TermAt(self.terms.len() - 1)))
            }
        }
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
        Ok(())
    }
}
