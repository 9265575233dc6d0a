//! Lists, sets, intervals and tuples.

use super::build::{negated, sum};
use super::tokens::{Bracket, Token};
use super::{Fail, Parsed, Parser};
use crate::values::order;
use merit_maths::{Expr, Relation};
use std::cmp::Ordering;
use std::sync::Arc;

impl Parser<'_, '_> {
    /// `math`: the whole text.
    pub(super) fn math(&mut self, latex: &str) -> Parsed {
        if let Some(value) = self.attempt(|p| p.whole(Self::assigned_elements))? {
            return Ok(value);
        }
        if let Some(elements) = self.attempt(|p| p.whole(|p| p.elements(true)))? {
            if let Some(number) = with_commas(latex) {
                return Ok(number);
            }
            return Ok(set_or_tuple(elements));
        }
        self.whole(Self::set_relation)
    }

    fn whole<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let done = rule(self)?;
        if self.at == self.tokens.len() { Ok(done) } else { Err(Fail::Syntax) }
    }

    /// `x = 1, 2` and `x \in [0, 1]`.
    fn assigned_elements(&mut self) -> Parsed {
        let left = self.symbols()?;
        if !self.eat(Token::Assign) {
            self.expect(Token::In)?;
        }
        let right = set_or_tuple(self.elements(false)?);
        Ok(Expr::Relation(Relation::Equal, Box::new(left), Box::new(right)))
    }

    /// `x` or `(x, y)`.
    pub(super) fn symbols(&mut self) -> Parsed {
        if !self.open(Bracket::Paren) {
            return self.symbol_atom();
        }
        let mut symbols = vec![self.symbol_atom()?];
        while self.eat(Token::Comma) {
            symbols.push(self.symbol_atom()?);
        }
        self.close(Bracket::Paren)?;
        Ok(if symbols.len() == 1 { symbols.remove(0) } else { Expr::Tuple(symbols) })
    }

    fn symbol_atom(&mut self) -> Parsed {
        match self.peek() {
            Some(Token::Letter | Token::Greek | Token::OtherSymbol | Token::Accent) => self.atom(),
            _ => Err(Fail::Syntax),
        }
    }

    /// Lists between semicolons, elements between commas.
    fn elements(&mut self, relations: bool) -> Parsed<Vec<Vec<Expr>>> {
        let mut lists = Vec::new();
        loop {
            let mut list = Vec::new();
            loop {
                self.budget.spend(1)?;
                self.element(relations, &mut list)?;
                if !self.eat(Token::Comma) {
                    break;
                }
            }
            lists.push(list);
            if !self.eat(Token::Semicolon) {
                return Ok(lists);
            }
        }
    }

    /// `±…`, a set, or a relation.
    fn element(&mut self, relations: bool, list: &mut Vec<Expr>) -> Parsed<()> {
        if self.eat(Token::PlusMinus) {
            let value = self.outside_bars(Self::expr)?;
            list.extend([negated(value.clone()), value]);
            return Ok(());
        }
        if self.starts_set() {
            let set = self.attempt(|p| {
                let set = p.deeper(Self::set_atom)?;
                if p.at_end_of_element() { Ok(set) } else { Err(Fail::Syntax) }
            })?;
            if let Some(set) = set {
                list.push(set);
                return Ok(());
            }
        }
        let left = self.outside_bars(Self::expr)?;
        if self.eat(Token::PlusMinus) {
            let right = self.outside_bars(Self::expr)?;
            list.extend([sum(left.clone(), right.clone()), sum(left, negated(right))]);
            return Ok(());
        }
        list.push(if relations { self.relations(left)? } else { left });
        Ok(())
    }

    fn at_end_of_element(&self) -> bool {
        matches!(self.peek(), None | Some(Token::Comma | Token::Semicolon | Token::Close(_)))
    }

    fn starts_set(&self) -> bool {
        matches!(
            self.peek(),
            Some(
                Token::Open(_)
                    | Token::Boxed
                    | Token::Naturals
                    | Token::Integers
                    | Token::Rationals
                    | Token::Reals
                    | Token::Complexes
                    | Token::EmptySet
            )
        )
    }

    pub(super) fn set_atom(&mut self) -> Parsed {
        if let Some(interval) = self.attempt(Self::interval)? {
            return interval;
        }
        if let Some(set) = self.literal_set() {
            return Ok(set);
        }
        let boxed = self.eat(Token::Boxed);
        let Token::Open(bracket) = self.next()?.token else { return Err(Fail::Syntax) };
        if boxed && bracket != Bracket::Brace {
            return Err(Fail::Syntax);
        }
        match bracket {
            Bracket::Paren | Bracket::ParenVisual | Bracket::Square => {
                let elements = self.elements(true)?;
                self.close(bracket)?;
                Ok(tuple(elements))
            }
            Bracket::Brace if !boxed && self.eat(Token::Close(Bracket::Brace)) => Ok(Expr::Set(Vec::new())),
            Bracket::Brace | Bracket::BraceVisual => {
                let elements = self.elements(true)?;
                self.close(bracket)?;
                Ok(if boxed { set_or_tuple(elements) } else { Expr::Set(elements.concat()) })
            }
            _ => Err(Fail::Syntax),
        }
    }

    fn literal_set(&mut self) -> Option<Expr> {
        let name = match self.peek()? {
            Token::Naturals => "N",
            Token::Integers => "Z",
            Token::Rationals => "Q",
            Token::Reals => "R",
            Token::Complexes => "C",
            Token::EmptySet => "",
            _ => return None,
        };
        self.at += 1;
        Some(if name.is_empty() { Expr::Set(Vec::new()) } else { Expr::NamedSet(Arc::from(name)) })
    }

    /// Two expressions between brackets of any of the kinds an interval may have. The outer result says whether it matches,
    /// the inner one whether such an interval can be.
    fn interval(&mut self) -> Parsed<Parsed> {
        let open_left = match self.next()?.token {
            Token::Open(Bracket::Paren | Bracket::ParenVisual | Bracket::Group) => true,
            Token::Open(Bracket::Square | Bracket::SquareCommand) => false,
            _ => return Err(Fail::Syntax),
        };
        let low = self.outside_bars(Self::expr)?;
        self.expect(Token::Comma)?;
        let high = self.outside_bars(Self::expr)?;
        let open_right = match self.next()?.token {
            Token::Close(Bracket::Paren | Bracket::ParenVisual | Bracket::Group) => true,
            Token::Close(Bracket::Square | Bracket::SquareCommand) => false,
            _ => return Err(Fail::Syntax),
        };
        let ordering = order(&low, &high, self.budget)?;
        Ok(Ok(match ordering {
            // No interval at all: two numbers in brackets are a pair.
            Some(Ordering::Greater) if open_left == open_right => Expr::Tuple(vec![low, high]),
            Some(Ordering::Equal) if open_left && open_right => Expr::Tuple(vec![low, high]),
            Some(Ordering::Equal) if !open_left && !open_right => Expr::Set(vec![low]),
            Some(Ordering::Greater | Ordering::Equal) => Expr::Set(Vec::new()),
            _ => Expr::Interval {
                low: Box::new(low),
                high: Box::new(high),
                low_closed: !open_left,
                high_closed: !open_right,
            },
        }))
    }
}

/// One element is itself, one list a set, several lists a set of tuples.
fn set_or_tuple(mut lists: Vec<Vec<Expr>>) -> Expr {
    if lists.len() == 1 {
        let mut list = lists.remove(0);
        return if list.len() == 1 { list.remove(0) } else { Expr::Set(list) };
    }
    if lists.iter().all(|list| list.len() == 1) {
        return Expr::Set(lists.concat());
    }
    Expr::Set(lists.into_iter().map(Expr::Tuple).collect())
}

fn tuple(lists: Vec<Vec<Expr>>) -> Expr {
    let mut all = lists.concat();
    if all.len() == 1 { all.remove(0) } else { Expr::Tuple(all) }
}

/// The whole text as a number in groups of three, which the grammar would read as a list.
fn with_commas(latex: &str) -> Option<Expr> {
    let text = latex.trim();
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let mut groups = whole.split(',');
    let digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    let first = groups.next()?;
    let good = (1..=3).contains(&first.len())
        && digits(first)
        && whole.contains(',')
        && groups.all(|group| group.len() == 3 && digits(group))
        && !decimals.is_empty()
        && digits(decimals);
    if !good {
        return None;
    }
    // A leading nought makes the comma a decimal one.
    let plain = if text.starts_with('0') { text.replace(',', ".") } else { text.replace(',', "") };
    super::build::number(&plain)
}
