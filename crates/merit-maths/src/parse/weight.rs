//! How large a tree is. A chain `a < b < c` writes `b` twice, and chains within chains double again, so every copy is paid
//! for by its size.

use crate::Expr;

/// The number of nodes.
pub(super) fn nodes(expr: &Expr) -> u64 {
    let all = |parts: &[Expr]| parts.iter().map(nodes).sum::<u64>();
    let within = match expr {
        Expr::Num(_) | Expr::Decimal(_) | Expr::Constant(_) | Expr::Symbol(_) | Expr::InBase(..) => 0,
        Expr::NamedSet(_) | Expr::Text(_) | Expr::Truth(_) => 0,
        Expr::Add(parts) | Expr::Mul(parts) | Expr::Apply(_, parts) | Expr::Unknown(_, parts) => all(parts),
        Expr::Ratio(parts) | Expr::Chain(parts) | Expr::Either(parts) | Expr::Set(parts) => all(parts),
        Expr::Tuple(parts) | Expr::List(parts) | Expr::Union(parts) | Expr::Intersection(parts) => all(parts),
        Expr::PlusMinus(part) | Expr::Percent(part) | Expr::Quantity(part, _) | Expr::Labelled(_, part) => {
            nodes(part)
        }
        Expr::Pow(left, right) | Expr::Relation(_, left, right) | Expr::Difference(left, right) => {
            nodes(left) + nodes(right)
        }
        Expr::SetBuilder(left, right) => nodes(left) + nodes(right),
        Expr::Interval { low, high, .. } => nodes(low) + nodes(high),
        Expr::Matrix(rows) => rows.iter().map(|row| all(row)).sum(),
        Expr::Piecewise(pieces) => {
            pieces.iter().map(|(value, condition)| nodes(value) + nodes(condition)).sum()
        }
        Expr::Quantified { body, from, to, .. } => {
            nodes(body) + [from, to].into_iter().flatten().map(|bound| nodes(bound)).sum::<u64>()
        }
    };
    within + 1
}
