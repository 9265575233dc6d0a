//! The whole answer: one thing, or several joined by commas, semicolons, rows, `and` or `or`.

use super::ParseError;
use super::cursor::Parser;
use super::kind::{Bracket, Kind};
use crate::{Budget, Expr, Relation};

/// What stands before an item of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    First,
    Comma,
    /// A semicolon or the end of a row.
    Semicolon,
    And,
    Or,
    /// A comma and then a word: `1, 2, and 3`.
    CommaAnd,
    CommaOr,
}

impl Parser<'_> {
    /// Everything from here to the end.
    pub(super) fn whole(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        if matches!(self.kind(), Kind::End) {
            return Err(ParseError::Empty);
        }
        if let Some(words) = self.prose(4) {
            return Ok(words);
        }
        let read = self.sentence(budget);
        match read {
            Err(ParseError::Unexpected { .. }) => match self.prose(1) {
                Some(words) => Ok(words),
                None => read,
            },
            other => other,
        }
    }

    fn sentence(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        while matches!(
            self.kind(),
            Kind::Caret | Kind::RowBreak | Kind::Rel(Relation::Implies | Relation::Equal | Relation::About)
        ) {
            self.at += 1;
        }
        let items = self.items(budget)?;
        let items = self.over(items, budget)?;
        match self.kind() {
            Kind::End => Ok(assemble(items)),
            _ => self.unexpected("an operator or the end"),
        }
    }

    /// Items up to something that is neither part of one nor between two.
    pub(super) fn items(&mut self, budget: &mut Budget) -> Result<Vec<(Joint, Expr)>, ParseError> {
        let mut items = Vec::with_capacity(1);
        let mut joint = Joint::First;
        loop {
            items.push((joint, self.relation(budget)?));
            joint = match self.joint() {
                Some(joint) if !matches!(self.kind(), Kind::End | Kind::Close(_) | Kind::EndOf) => joint,
                _ => return Ok(items),
            };
        }
    }

    /// Past the joint that stands here, however it is written: `, \text{ and }`.
    fn joint(&mut self) -> Option<Joint> {
        let mut joint = None;
        loop {
            let here = match self.kind() {
                Kind::Comma | Kind::InnerComma => Joint::Comma,
                Kind::Semicolon | Kind::RowBreak => Joint::Semicolon,
                Kind::And => Joint::And,
                Kind::Or => Joint::Or,
                Kind::Dot if self.ends_after_dot() => Joint::Comma,
                Kind::Open(Bracket::Paren) if joint.is_none() && self.condition_ahead() => {
                    return Some(Joint::Comma);
                }
                Kind::Word if self.at_or_so() => {
                    self.at += 2;
                    joint = Some(meet(joint, Joint::Comma));
                    continue;
                }
                Kind::Text | Kind::Word | Kind::Roman => match self.connective() {
                    Some((here, length)) => {
                        self.take_front(length);
                        joint = Some(meet(joint, here));
                        continue;
                    }
                    None => return joint,
                },
                _ => return joint,
            };
            self.at += 1;
            joint = Some(meet(joint, here));
        }
    }

    /// A full stop ends the answer where nothing but closing marks follows.
    fn ends_after_dot(&self) -> bool {
        matches!(
            self.kind_at(1),
            Kind::End | Kind::Close(_) | Kind::EndOf | Kind::Dot | Kind::Comma | Kind::RowBreak
        )
    }
}

/// Two joints in a row make one.
fn meet(before: Option<Joint>, here: Joint) -> Joint {
    match (before, here) {
        (Some(Joint::Comma | Joint::CommaAnd), Joint::And) => Joint::CommaAnd,
        (Some(Joint::Comma | Joint::CommaOr), Joint::Or) => Joint::CommaOr,
        (Some(Joint::Semicolon), _) => Joint::Semicolon,
        (Some(before), Joint::Comma) => before,
        (_, here) => here,
    }
}

/// One expression out of several items.
pub(super) fn assemble(mut items: Vec<(Joint, Expr)>) -> Expr {
    if items.len() == 1 {
        return items.swap_remove(0).1;
    }
    let has = |wanted: &[Joint]| items.iter().any(|(joint, _)| wanted.contains(joint));
    let words = has(&[Joint::And, Joint::Or]);
    let oxford = has(&[Joint::CommaAnd, Joint::CommaOr]);
    let relations = items.iter().any(|(_, item)| matches!(item, Expr::Relation(..) | Expr::Chain(_)));
    // `p=5, q=2; p=7, q=2` and `x=1, y=2 or x=2, y=1`: the stronger joint divides first.
    if has(&[Joint::Comma]) {
        if has(&[Joint::Semicolon]) {
            return Expr::List(split(items, &[Joint::Semicolon]));
        }
        if words && !oxford && relations {
            let either = has(&[Joint::Or]);
            let groups = split(items, &[Joint::And, Joint::Or]);
            return if either { Expr::Either(groups) } else { Expr::List(groups) };
        }
    }
    let either = has(&[Joint::Or, Joint::CommaOr]) && !has(&[Joint::And, Joint::CommaAnd]);
    let together = has(&[Joint::And]) && items.iter().all(|(_, item)| is_inequality(item));
    let parts: Vec<Expr> = items.into_iter().map(|(_, item)| item).collect();
    match (either, together) {
        (true, _) => Expr::Either(parts),
        (_, true) => Expr::Chain(parts.into_iter().flat_map(links).collect()),
        _ => Expr::List(parts),
    }
}

fn links(item: Expr) -> Vec<Expr> {
    match item {
        Expr::Chain(links) => links,
        other => vec![other],
    }
}

fn is_inequality(item: &Expr) -> bool {
    match item {
        Expr::Relation(relation, ..) => *relation != Relation::Equal,
        Expr::Chain(links) => links.iter().all(is_inequality),
        _ => false,
    }
}

fn split(items: Vec<(Joint, Expr)>, at: &[Joint]) -> Vec<Expr> {
    let mut groups = Vec::new();
    let mut group = Vec::new();
    for (joint, item) in items {
        if at.contains(&joint) && !group.is_empty() {
            groups.push(assemble(std::mem::take(&mut group)));
        }
        group.push((if group.is_empty() { Joint::First } else { joint }, item));
    }
    groups.push(assemble(group));
    groups
}
