//! Sets of real numbers as unions of intervals: brought into order, joined, cut and complemented exactly.

use super::endpoints::End;
use crate::{Budget, Exhausted};
use std::cmp::Ordering;

/// One interval; a single number is a closed one with equal ends.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) low: End,
    pub(crate) high: End,
    pub(crate) low_closed: bool,
    pub(crate) high_closed: bool,
}

/// A union of disjoint intervals in order, none touching the next.
#[derive(Debug, Clone)]
pub(crate) struct RealSet {
    pieces: Vec<Piece>,
}

/// `None` where two ends could not be put in order.
type Maybe<T> = Result<Option<T>, Exhausted>;

const MAX_PIECES: usize = 2000;

impl RealSet {
    pub(crate) fn all() -> RealSet {
        let piece =
            Piece { low: End::MinusInfinity, high: End::PlusInfinity, low_closed: false, high_closed: false };
        RealSet { pieces: vec![piece] }
    }

    pub(crate) fn empty() -> RealSet {
        RealSet { pieces: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(crate) fn from_pieces(pieces: Vec<Piece>, budget: &mut Budget) -> Maybe<RealSet> {
        if pieces.len() > MAX_PIECES {
            return Err(Exhausted::Size);
        }
        let mut sorted: Vec<Piece> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match piece.low.order(&piece.high, budget)? {
                None => return Ok(None),
                Some(Ordering::Greater) => continue,
                Some(Ordering::Equal) if !(piece.low_closed && piece.high_closed) => continue,
                Some(_) => {}
            }
            let mut at = sorted.len();
            while at > 0 {
                budget.spend(1)?;
                match starts_before(&piece, &sorted[at - 1], budget)? {
                    None => return Ok(None),
                    Some(false) => break,
                    Some(true) => at -= 1,
                }
            }
            sorted.insert(at, piece);
        }
        merged(sorted, budget)
    }

    pub(crate) fn union(&self, other: &RealSet, budget: &mut Budget) -> Maybe<RealSet> {
        let pieces = self.pieces.iter().chain(&other.pieces).cloned().collect();
        RealSet::from_pieces(pieces, budget)
    }

    pub(crate) fn intersection(&self, other: &RealSet, budget: &mut Budget) -> Maybe<RealSet> {
        let mut pieces = Vec::new();
        for a in &self.pieces {
            for b in &other.pieces {
                let Some((low, low_closed)) = tighter(a, b, Ordering::Less, budget)? else { return Ok(None) };
                let Some((high, high_closed)) = tighter(a, b, Ordering::Greater, budget)? else {
                    return Ok(None);
                };
                pieces.push(Piece { low, high, low_closed, high_closed });
            }
        }
        RealSet::from_pieces(pieces, budget)
    }

    pub(crate) fn complement(&self) -> RealSet {
        let mut pieces = Vec::with_capacity(self.pieces.len() + 1);
        let (mut low, mut low_closed) = (End::MinusInfinity, false);
        for piece in &self.pieces {
            if !matches!(piece.low, End::MinusInfinity) {
                let (high, high_closed) = (piece.low.clone(), !piece.low_closed);
                pieces.push(Piece { low, high, low_closed, high_closed });
            }
            low = piece.high.clone();
            low_closed = !piece.high_closed;
        }
        if !matches!(low, End::PlusInfinity) {
            pieces.push(Piece { low, high: End::PlusInfinity, low_closed, high_closed: false });
        }
        RealSet { pieces }
    }

    /// What this holds and the other does not.
    pub(crate) fn difference(&self, other: &RealSet, budget: &mut Budget) -> Maybe<RealSet> {
        self.intersection(&other.complement(), budget)
    }

    /// Whether both hold the same numbers; `None` where ends could not be put in order.
    pub(crate) fn same(&self, other: &RealSet, budget: &mut Budget) -> Maybe<bool> {
        if self.pieces.len() != other.pieces.len() {
            return Ok(Some(false));
        }
        for (a, b) in self.pieces.iter().zip(&other.pieces) {
            if (a.low_closed, a.high_closed) != (b.low_closed, b.high_closed) {
                return Ok(Some(false));
            }
            for (x, y) in [(&a.low, &b.low), (&a.high, &b.high)] {
                match x.order(y, budget)? {
                    None => return Ok(None),
                    Some(Ordering::Equal) => {}
                    Some(_) => return Ok(Some(false)),
                }
            }
        }
        Ok(Some(true))
    }
}

fn starts_before(a: &Piece, b: &Piece, budget: &mut Budget) -> Maybe<bool> {
    Ok(a.low.order(&b.low, budget)?.map(|order| match order {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => a.low_closed && !b.low_closed,
    }))
}

/// The inner of two ends: the higher low one (`Less`), the lower high one (`Greater`).
fn tighter(a: &Piece, b: &Piece, outer: Ordering, budget: &mut Budget) -> Maybe<(End, bool)> {
    let (x, y) = if outer == Ordering::Less {
        ((&a.low, a.low_closed), (&b.low, b.low_closed))
    } else {
        ((&a.high, a.high_closed), (&b.high, b.high_closed))
    };
    Ok(x.0.order(y.0, budget)?.map(|order| match order {
        Ordering::Equal => (x.0.clone(), x.1 && y.1),
        order if order == outer => (y.0.clone(), y.1),
        _ => (x.0.clone(), x.1),
    }))
}

fn merged(sorted: Vec<Piece>, budget: &mut Budget) -> Maybe<RealSet> {
    let mut pieces: Vec<Piece> = Vec::with_capacity(sorted.len());
    for piece in sorted {
        let Some(last) = pieces.last_mut() else {
            pieces.push(piece);
            continue;
        };
        let touches = match last.high.order(&piece.low, budget)? {
            None => return Ok(None),
            Some(Ordering::Less) => false,
            Some(Ordering::Equal) => last.high_closed || piece.low_closed,
            Some(Ordering::Greater) => true,
        };
        if !touches {
            pieces.push(piece);
            continue;
        }
        match last.high.order(&piece.high, budget)? {
            None => return Ok(None),
            Some(Ordering::Less) => {
                last.high = piece.high;
                last.high_closed = piece.high_closed;
            }
            Some(Ordering::Equal) => last.high_closed |= piece.high_closed,
            Some(Ordering::Greater) => {}
        }
    }
    Ok(Some(RealSet { pieces }))
}
