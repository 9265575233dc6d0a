//! Brackets: groups, tuples, intervals, sets and their conditions, absolute values, floors.

use super::ParseError;
use super::answer::{Joint, assemble};
use super::atom::quotient;
use super::cursor::Parser;
use super::environment::system;
use super::kind::{Bracket, Kind};
use crate::{Budget, Expr, Function};

impl Parser<'_> {
    /// What an opening bracket, or a reversed closing one, begins.
    pub(super) fn bracket(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let (open, reversed) = match self.take().kind {
            Kind::Open(open) => (open, false),
            _ => (Bracket::Square, true),
        };
        match open {
            Bracket::Brace => self.set(budget),
            Bracket::Bar | Bracket::DoubleBar => self.bars_until(open, budget),
            _ => {
                let items = self.enclosed(
                    budget,
                    !matches!(open, Bracket::Group | Bracket::Styled),
                    |parser, budget| parser.items(budget),
                )?;
                let items = self.over(items, budget)?;
                self.close(open, reversed, items)
            }
        }
    }

    fn close(
        &mut self,
        open: Bracket,
        reversed: bool,
        items: Vec<(Joint, Expr)>,
    ) -> Result<Expr, ParseError> {
        let (close, close_reversed) = match self.kind() {
            Kind::Close(close) => (close, false),
            Kind::Open(Bracket::Square) => (Bracket::Square, true),
            _ => return self.unexpected("a closing bracket"),
        };
        let matches = match open {
            Bracket::Paren | Bracket::Square => matches!(close, Bracket::Paren | Bracket::Square),
            other => close == other,
        };
        if !matches {
            return self.unexpected("the bracket that closes the one before");
        }
        let low_closed = open == Bracket::Square && !reversed;
        let high_closed = close == Bracket::Square && !close_reversed;
        let round = open == Bracket::Paren && close == Bracket::Paren;
        if open != close && items.len() != 2 || (reversed || close_reversed) && items.len() != 2 {
            return self.unexpected("two ends of an interval");
        }
        self.at += 1;
        let listed =
            items.iter().all(|(joint, _)| matches!(joint, Joint::First | Joint::Comma | Joint::Semicolon));
        if items.len() == 1 || !listed || open == Bracket::Styled {
            return Ok(functional(open, assemble(items)));
        }
        let mut parts: Vec<Expr> = items.into_iter().map(|(_, item)| item).collect();
        Ok(match open {
            Bracket::Group => Expr::Set(parts),
            Bracket::Paren | Bracket::Square if !round && parts.len() == 2 => {
                let high = Box::new(parts.swap_remove(1));
                let low = Box::new(parts.swap_remove(0));
                rows_of(low, high, low_closed, high_closed)
            }
            Bracket::Square => rows(parts),
            _ => Expr::Tuple(parts),
        })
    }

    /// `a \over b` and `a \choose b`, whose parts are everything before and after in the group.
    pub(super) fn over(
        &mut self,
        above: Vec<(Joint, Expr)>,
        budget: &mut Budget,
    ) -> Result<Vec<(Joint, Expr)>, ParseError> {
        let sign = self.kind();
        if !matches!(sign, Kind::Over | Kind::Choose) {
            return Ok(above);
        }
        self.at += 1;
        let below = assemble(self.enclosed(budget, false, |parser, budget| parser.items(budget))?);
        let above = assemble(above);
        let whole = match sign {
            Kind::Over => quotient(above, below),
            _ => Expr::Apply(Function::Binomial, vec![above, below]),
        };
        Ok(vec![(Joint::First, whole)])
    }

    /// `\{1, 2\}`, `\{x \mid x > 0\}`.
    fn set(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        if matches!(self.kind(), Kind::Close(Bracket::Brace)) {
            self.at += 1;
            return Ok(Expr::Set(Vec::new()));
        }
        let items = self.enclosed(budget, true, |parser, budget| {
            parser.in_set = true;
            parser.items(budget)
        })?;
        let divides = matches!(self.kind(), Kind::Bar | Kind::Colon | Kind::Rel(crate::Relation::Divides));
        self.at += usize::from(divides);
        let condition = match divides {
            true => Some(self.enclosed(budget, true, |parser, budget| parser.items(budget))?),
            false => None,
        };
        if !matches!(self.kind(), Kind::Close(Bracket::Brace | Bracket::Group)) {
            return self.open_brace(items);
        }
        self.at += 1;
        Ok(match condition {
            None => Expr::Set(items.into_iter().map(|(_, item)| item).collect()),
            Some(condition) => Expr::SetBuilder(Box::new(assemble(items)), Box::new(holding(condition))),
        })
    }

    /// `\left\{ \begin{array}… \right.`: a brace that is never closed stands before a system of equations or cases.
    fn open_brace(&mut self, mut items: Vec<(Joint, Expr)>) -> Result<Expr, ParseError> {
        match (items.len(), items.pop()) {
            (1, Some((_, Expr::Matrix(rows)))) => Ok(system(rows)),
            (1, Some((_, system @ (Expr::Chain(_) | Expr::Piecewise(_))))) => Ok(system),
            _ => self.unexpected("the end of the set"),
        }
    }

    /// `|x|` or `\|v\|`, by bars that do not say which side they are.
    pub(super) fn bars(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        match self.take().kind {
            Kind::Bar => self.bars_until(Bracket::Bar, budget),
            _ => self.bars_until(Bracket::DoubleBar, budget),
        }
    }

    fn bars_until(&mut self, bracket: Bracket, budget: &mut Budget) -> Result<Expr, ParseError> {
        let inside = self.enclosed(budget, true, |parser, budget| {
            parser.bars = 1;
            parser.sum(budget)
        })?;
        let closed = match bracket {
            Bracket::Bar => matches!(self.kind(), Kind::Bar | Kind::Close(Bracket::Bar)),
            _ => matches!(self.kind(), Kind::DoubleBar | Kind::Close(Bracket::DoubleBar)),
        };
        if !closed {
            return self.unexpected("the closing bar");
        }
        self.at += 1;
        let function = match (bracket, &inside) {
            (Bracket::Bar, Expr::Matrix(_)) => Function::Determinant,
            (Bracket::Bar, _) => Function::Abs,
            _ => Function::Norm,
        };
        Ok(Expr::Apply(function, vec![inside]))
    }

    /// Whether the `[` here closes a half-open interval written the French way, `[0, 1[`.
    pub(super) fn closes_reversed(&self) -> bool {
        self.brackets > 0
            && matches!(
                self.kind_at(1),
                Kind::End
                    | Kind::Close(_)
                    | Kind::Comma
                    | Kind::Semicolon
                    | Kind::Union
                    | Kind::Intersection
                    | Kind::SetMinus
                    | Kind::Rel(_)
                    | Kind::Text
                    | Kind::Dot
                    | Kind::And
                    | Kind::Or
                    | Kind::RowBreak
            )
    }
}

fn functional(open: Bracket, inside: Expr) -> Expr {
    match open {
        Bracket::Floor => Expr::Apply(Function::Floor, vec![inside]),
        Bracket::Ceiling => Expr::Apply(Function::Ceiling, vec![inside]),
        _ => inside,
    }
}

/// The conditions of a set hold together.
fn holding(items: Vec<(Joint, Expr)>) -> Expr {
    let all_commas = items.iter().all(|(joint, _)| matches!(joint, Joint::First | Joint::Comma | Joint::And));
    if items.len() > 1 && all_commas {
        return Expr::Chain(items.into_iter().map(|(_, item)| item).collect());
    }
    assemble(items)
}

/// Rows in square brackets within square brackets make a matrix: `[[1, 2], [3, 4]]`.
fn rows(parts: Vec<Expr>) -> Expr {
    let length = match parts.first() {
        Some(Expr::Interval { .. }) => 2,
        Some(Expr::Tuple(row)) => row.len(),
        _ => return Expr::Tuple(parts),
    };
    let fits = |part: &Expr| match part {
        Expr::Interval { low_closed, high_closed, .. } => length == 2 && *low_closed && *high_closed,
        Expr::Tuple(row) => row.len() == length,
        _ => false,
    };
    if !parts.iter().all(fits) {
        return Expr::Tuple(parts);
    }
    let row = |part| match part {
        Expr::Interval { low, high, .. } => vec![*low, *high],
        Expr::Tuple(row) => row,
        other => vec![other],
    };
    Expr::Matrix(parts.into_iter().map(row).collect())
}

fn rows_of(low: Box<Expr>, high: Box<Expr>, low_closed: bool, high_closed: bool) -> Expr {
    let is_row = |end: &Expr| matches!(end, Expr::Interval { low_closed: true, high_closed: true, .. });
    if low_closed && high_closed && is_row(&low) && is_row(&high) {
        return rows(vec![*low, *high]);
    }
    Expr::Interval { low, high, low_closed, high_closed }
}
