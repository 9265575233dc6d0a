//! Letters: variables, constants, functions of one letter, and names written without a backslash.

use super::cursor::{Parser, whole};
use super::kind::{Bracket, Kind};
use super::superscript::root;
use super::{Mode, ParseError, commands};
use crate::{Budget, Constant, Expr, Function, Quantifier, Relation};
use std::sync::Arc;

impl Parser<'_> {
    /// A run of letters: a name, a word, or its first letter, the rest being left for the product.
    pub(super) fn letters(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let token = self.token(0);
        let word = self.source(token);
        if self.integrals > 0 && self.at_differential() {
            self.differential = Some(self.take_differential());
            return Ok(whole(1));
        }
        if word.len() > 1 && !self.is_rest_of_word(token.start) {
            if let Some(numeral) = self.numeral_in_base() {
                return Ok(numeral);
            }
            if let Some(length) = self.function_prefix(word) {
                return self.named(length, budget);
            }
            if let Some(words) = self.words() {
                return Ok(words);
            }
            if let Some(derivative) = self.plain_derivative() {
                return Ok(derivative);
            }
            if self.mode == Mode::Plain && word.len() > 3 {
                self.at += 1;
                return Ok(Expr::Symbol(word.into()));
            }
        }
        let length = word.chars().next().map_or(1, char::len_utf8);
        let name = self.take_front(length);
        self.variable(name.into(), budget)
    }

    /// Whether a token at `start` is what remains of a word already begun.
    pub(super) fn is_rest_of_word(&self, start: u32) -> bool {
        let before = (start as usize).checked_sub(1).and_then(|at| self.text.as_bytes().get(at));
        before.is_some_and(u8::is_ascii_alphabetic) && self.previous().is_none_or(|token| token.end < start)
    }

    /// One letter by itself, as after `^` or `_`; in plain text a known name.
    pub(super) fn one_letter(&mut self) -> Expr {
        let word = self.source(self.token(0));
        if let (Mode::Plain, Some(name)) = (self.mode, name_or_constant(word)) {
            self.at += 1;
            return name;
        }
        let name = self.take_front(word.chars().next().map_or(1, char::len_utf8));
        self.free_constant(name).unwrap_or_else(|| Expr::Symbol(name.into()))
    }

    /// `e` and `i` where nothing binds them.
    fn free_constant(&self, name: &str) -> Option<Expr> {
        match (name, self.bound) {
            ("i", [0, _]) => Some(Expr::Constant(Constant::I)),
            ("e", [_, 0]) => Some(Expr::Constant(Constant::E)),
            _ => None,
        }
    }

    /// A variable with its subscript and primes, or a function of what stands in the brackets after it.
    pub(super) fn variable(&mut self, name: Arc<str>, budget: &mut Budget) -> Result<Expr, ParseError> {
        let plain = !matches!(self.kind(), Kind::Underscore | Kind::Prime);
        if let (true, Some(constant)) = (plain, self.free_constant(&name)) {
            return Ok(constant);
        }
        let binomial = if !plain && &*name == "C" { self.binomial_ahead() } else { None };
        if let Some(binomial) = binomial {
            return Ok(binomial);
        }
        let always = is_function(&name);
        let sometimes = may_be_function(&name);
        let mut name = if plain { name } else { self.decorated(name, budget)? };
        if always && self.inverse_ahead() {
            self.at += 5;
            name = format!("{name}^-1").into();
        }
        let applied = matches!(self.kind(), Kind::Open(Bracket::Paren))
            && (always || name.ends_with('\'') || sometimes && self.simple_arguments());
        match applied {
            true => budget.deeper(|budget| self.unknown(name, budget)),
            false => Ok(Expr::Symbol(name)),
        }
    }

    fn unknown(&mut self, name: Arc<str>, budget: &mut Budget) -> Result<Expr, ParseError> {
        let arguments = self.function_arguments(budget)?;
        Ok(Expr::Unknown(name, arguments))
    }

    /// A letter by command, `\alpha`; `\Gamma` before a bracket is the function.
    pub(super) fn named_letter(
        &mut self,
        name: &'static str,
        budget: &mut Budget,
    ) -> Result<Expr, ParseError> {
        if name == "Gamma" && matches!(self.kind_at(1), Kind::Open(Bracket::Paren)) {
            return self.function(Function::Gamma, budget);
        }
        self.at += 1;
        if matches!(name, "angle" | "triangle") && matches!(self.kind(), Kind::Word) {
            let figure = self.take();
            return Ok(Expr::Symbol(format!("{name} {}", self.source(figure)).into()));
        }
        self.variable(name.into(), budget)
    }

    /// `^{-1}(`
    fn inverse_ahead(&self) -> bool {
        matches!(
            (
                self.kind(),
                self.kind_at(1),
                self.kind_at(2),
                self.kind_at(3),
                self.kind_at(4),
                self.kind_at(5)
            ),
            (
                Kind::Caret,
                Kind::Open(_),
                Kind::Minus,
                Kind::Digits,
                Kind::Close(_),
                Kind::Open(Bracket::Paren)
            )
        ) && self.source(self.token(3)) == "1"
    }

    /// Whether the bracket here holds letters and numbers, between commas, relations or signs of sets.
    fn simple_arguments(&self) -> bool {
        for ahead in 1..12 {
            let part = self.token(ahead);
            match part.kind {
                Kind::Close(Bracket::Paren) => return ahead > 1,
                Kind::Word if part.end - part.start == 1 => {}
                Kind::Digits | Kind::Letter(_) | Kind::Comma | Kind::Rel(_) | Kind::Bar => {}
                Kind::Union | Kind::Intersection => {}
                Kind::Minus if ahead == 1 => {}
                _ => return false,
            }
        }
        false
    }

    /// The arguments in the bracket here; `P(A | B)` has two.
    fn function_arguments(&mut self, budget: &mut Budget) -> Result<Vec<Expr>, ParseError> {
        self.at += 1;
        let mut items = self.enclosed(budget, true, |parser, budget| {
            parser.in_set = true;
            parser.items(budget)
        })?;
        if self.eat(Kind::Bar) || self.eat(Kind::Rel(Relation::Divides)) {
            items.extend(self.enclosed(budget, true, |parser, budget| parser.items(budget))?);
        }
        if !matches!(self.kind(), Kind::Close(_)) {
            return self.unexpected("a closing bracket");
        }
        self.at += 1;
        Ok(items.into_iter().map(|(_, item)| item).collect())
    }

    /// `C_5^2`: a binomial coefficient where both are numbers and the upper is no larger.
    fn binomial_ahead(&mut self) -> Option<Expr> {
        let (below, after) = self.index_at(1)?;
        if self.kind_at(after) != Kind::Caret {
            return None;
        }
        let (above, after) = self.index_at(after + 1)?;
        if above > below {
            return None;
        }
        self.at += after;
        Some(Expr::Apply(Function::Binomial, vec![whole(below), whole(above)]))
    }

    /// A number in digits there, plain or in a group, and the token after it.
    pub(super) fn index_at(&self, ahead: usize) -> Option<(i64, usize)> {
        let grouped = usize::from(matches!(self.kind_at(ahead), Kind::Open(Bracket::Group)));
        let token = self.token(ahead + grouped);
        if token.kind != Kind::Digits || grouped == 1 && !matches!(self.kind_at(ahead + 2), Kind::Close(_)) {
            return None;
        }
        Some((self.source(token).parse().ok()?, ahead + 1 + 2 * grouped))
    }

    /// `dy/dx`.
    fn plain_derivative(&mut self) -> Option<Expr> {
        let (over, under) = (self.source(self.token(0)), self.source(self.token(2)));
        let fraction = self.kind_at(1) == Kind::Slash && self.kind_at(2) == Kind::Word;
        if !fraction || over.len() != 2 || under.len() != 2 {
            return None;
        }
        let (body, variable) = (over.strip_prefix('d')?, under.strip_prefix('d')?);
        self.at += 3;
        let body = Box::new(Expr::Symbol(body.into()));
        Some(Expr::Quantified {
            what: Quantifier::Derivative,
            body,
            variable: variable.into(),
            from: None,
            to: None,
        })
    }

    /// How much of `word` is the name of a function or constant: all of it, or all but one letter as in `sinx`.
    fn function_prefix(&self, word: &str) -> Option<usize> {
        if self.name_kind(word).is_some() {
            return Some(word.len());
        }
        let (end, _) = word.char_indices().next_back()?;
        let head = word.get(..end)?;
        matches!(head, "sin" | "cos" | "tan" | "cot" | "ln" | "log" | "sqrt").then_some(end)
    }

    pub(super) fn names_something(&self) -> bool {
        self.function_prefix(self.source(self.token(0))).is_some()
    }

    pub(super) fn names_function(&self) -> bool {
        matches!(self.function_prefix(self.source(self.token(0))), Some(length) if length > 1)
            && !matches!(self.name_kind(self.source(self.token(0))), Some(Kind::Const(_) | Kind::Letter(_)))
    }

    fn name_kind(&self, word: &str) -> Option<Kind> {
        if let Some(kind) = spelled(word) {
            return Some(kind);
        }
        let kind = commands::find(word)?;
        let before_bracket = matches!(self.kind_at(1), Kind::Open(Bracket::Paren | Bracket::Square));
        match kind {
            Kind::Sqrt => Some(kind),
            Kind::Fun(_) if word.len() > 2 || word == "ln" || before_bracket => Some(kind),
            Kind::Letter(_) if self.mode == Mode::Plain || word.len() > 3 => Some(kind),
            Kind::Const(_) => Some(kind),
            _ => None,
        }
    }

    /// The name in the first `length` bytes of the token here.
    fn named(&mut self, length: usize, budget: &mut Budget) -> Result<Expr, ParseError> {
        let kind = self.name_kind(self.source(self.token(0)).get(..length).unwrap_or_default());
        self.take_front(length);
        match kind {
            Some(Kind::Fun(function)) => self.applied(function, budget),
            Some(Kind::Sqrt) => match self.arguments(budget)?.into_iter().next() {
                Some(argument) => Ok(root(argument, None)),
                None => self.unexpected("what the root is of"),
            },
            Some(Kind::Letter(letter)) => self.variable(letter.into(), budget),
            Some(Kind::Const(constant)) => Ok(Expr::Constant(constant)),
            _ => self.unexpected("a name"),
        }
    }
}

/// Names of plain text that no command has.
fn spelled(word: &str) -> Option<Kind> {
    Some(match word {
        "oo" | "inf" | "infinity" | "Infinity" => Kind::Const(Constant::Infinity),
        "Pi" | "PI" => Kind::Const(Constant::Pi),
        "asin" => Kind::Fun(Function::Arcsin),
        "acos" => Kind::Fun(Function::Arccos),
        "atan" => Kind::Fun(Function::Arctan),
        "abs" | "Abs" => Kind::Fun(Function::Abs),
        "floor" => Kind::Fun(Function::Floor),
        "ceil" | "ceiling" => Kind::Fun(Function::Ceiling),
        "factorial" => Kind::Fun(Function::Factorial),
        "binomial" | "binom" => Kind::Fun(Function::Binomial),
        _ => return None,
    })
}

/// What a name means, with or without a command.
pub(super) fn named_kind(word: &str) -> Option<Kind> {
    spelled(word).or_else(|| commands::find(word))
}

fn name_or_constant(word: &str) -> Option<Expr> {
    match named_kind(word)? {
        Kind::Const(constant) => Some(Expr::Constant(constant)),
        Kind::Letter(name) => Some(Expr::Symbol(name.into())),
        _ => None,
    }
}

fn is_function(name: &str) -> bool {
    matches!(name, "f" | "g" | "h" | "F" | "G" | "H")
}

fn may_be_function(name: &str) -> bool {
    matches!(name, "p" | "q" | "u" | "v" | "y" | "P" | "Q" | "R" | "S" | "T" | "W")
}
