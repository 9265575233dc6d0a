//! Math-Verify's LaTeX grammar, alternatives tried in its order.
//!
//! In: normalised LaTeX. Out: the expression as sympy would hold it unevaluated, or nothing where the grammar does not match.
//! Sets and lists are in `sets`, sums and products in `expr`, the rest in `atoms` and `functions`.

mod atoms;
pub(super) mod build;
mod expr;
mod functions;
mod lexer;
mod named;
mod relations;
mod sets;
mod tokens;

use lexer::Lexeme;
use merit_maths::{Budget, Exhausted, Expr};
use std::collections::HashSet;
use tokens::{Bracket, Token};

/// Parses normalised LaTeX; nothing if the grammar does not match.
pub(super) fn parse(latex: &str, budget: &mut Budget) -> Result<Option<Expr>, Exhausted> {
    let real = !complex_hint(latex);
    let Some(tokens) = lexer::tokens(latex, budget)? else { return Ok(None) };
    let (unclosed, no_function) = (HashSet::new(), HashSet::new());
    let mut parser = Parser { tokens, at: 0, real, in_bars: false, depth: 0, unclosed, no_function, budget };
    match parser.math(latex) {
        Ok(expr) => Ok(Some(expr)),
        Err(Fail::Syntax) => Ok(None),
        Err(Fail::Out(out)) => Err(out),
    }
}

/// Whether symbols may be complex: an `i` standing alone, or a command of complex numbers or matrices.
fn complex_hint(latex: &str) -> bool {
    const WORDS: [&str; 13] = [
        "\\mathbb{C}",
        "\\text{i}",
        "\\mathrm{i}",
        "\\det",
        "\\operatorname{tr}",
        "\\operatorname{rank}",
        "\\text{rank}",
        "\\arg{",
        "\\Re{",
        "\\Im{",
        "\\operatorname{Re}",
        "\\operatorname{Im}",
        "\\text{Re}",
    ];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    latex.split(|c| !is_word(c)).any(|word| word == "i")
        || (latex.contains('\\')
            && (WORDS.iter().any(|word| latex.contains(word))
                || latex.contains("\\text{Im}")
                || latex.match_indices("\\imath").any(|(at, w)| !latex[at + w.len()..].starts_with(is_word))))
}

/// Why a rule did not match.
enum Fail {
    Syntax,
    Out(Exhausted),
}

impl From<Exhausted> for Fail {
    fn from(out: Exhausted) -> Self {
        Self::Out(out)
    }
}

type Parsed<T = Expr> = Result<T, Fail>;

struct Parser<'t, 'b> {
    tokens: Vec<Lexeme<'t>>,
    at: usize,
    real: bool,
    /// Between two bars, where a bar closes.
    in_bars: bool,
    depth: usize,
    /// Positions of brackets that were found not to close.
    unclosed: HashSet<usize>,
    /// Positions of symbols that were found not to be applied to anything.
    no_function: HashSet<usize>,
    budget: &'b mut Budget,
}

impl<'t> Parser<'t, '_> {
    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).map(|l| l.token)
    }

    fn peek_at(&self, offset: usize) -> Option<Token> {
        self.tokens.get(self.at + offset).map(|l| l.token)
    }

    fn next(&mut self) -> Parsed<Lexeme<'t>> {
        let lexeme = self.tokens.get(self.at).copied().ok_or(Fail::Syntax)?;
        self.at += 1;
        Ok(lexeme)
    }

    fn eat(&mut self, token: Token) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: Token) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { Err(Fail::Syntax) }
    }

    fn open(&mut self, bracket: Bracket) -> bool {
        self.eat(Token::Open(bracket))
    }

    fn close(&mut self, bracket: Bracket) -> Parsed<()> {
        self.expect(Token::Close(bracket))
    }

    /// The text of the tokens from `from` to here, white space dropped.
    fn text_since(&self, from: usize) -> String {
        self.tokens[from..self.at].iter().map(|l| l.text.trim_end()).collect()
    }

    /// Tries a rule; where it does not match, nothing was read.
    fn attempt<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Result<Option<T>, Fail> {
        let (at, in_bars) = (self.at, self.in_bars);
        match rule(self) {
            Ok(done) => Ok(Some(done)),
            Err(Fail::Syntax) => {
                self.at = at;
                self.in_bars = in_bars;
                Ok(None)
            }
            Err(out) => Err(out),
        }
    }

    /// Runs a rule one level deeper.
    fn deeper<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.budget.spend(1)?;
        self.nested(self.depth + 1)?;
        self.depth += 1;
        let done = rule(self);
        self.depth -= 1;
        done
    }

    /// Checks that an expression may be nested `levels` deep.
    fn nested(&self, levels: usize) -> Parsed<()> {
        if levels > self.budget.limits().depth { Err(Fail::Out(Exhausted::Depth)) } else { Ok(()) }
    }
}
