//! A mathematical answer as a tree. The parser writes it as it was meant, nothing evaluated; the comparison reads it.
//!
//! Minus is multiplication by −1, division is a power of −1, a root is a rational power: `a − b/c` is
//! `Add[a, Mul[Num(-1), b, Pow(c, Num(-1))]]`.

use dashu_ratio::RBig;
use std::sync::Arc;

/// An expression or another kind of answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// An exact number as written without a decimal point: `3`, `10^2` stays a power.
    Num(RBig),
    /// A number written with a decimal point or in scientific notation; exact value of what was written, and how far.
    Decimal(Rounded),
    Constant(Constant),
    /// A variable, with its subscript in the name: `x`, `x_1`, `\alpha`.
    Symbol(Arc<str>),
    /// A sum of two or more parts, in the order written.
    Add(Vec<Expr>),
    /// A product of two or more parts, in the order written.
    Mul(Vec<Expr>),
    /// A power: base, exponent.
    Pow(Box<Expr>, Box<Expr>),
    /// A function of its arguments.
    Apply(Function, Vec<Expr>),
    /// A whole number in another base, `204_5`: its digits as written and the base.
    InBase(Arc<str>, u32),
    /// Parts in proportion, `7:32` or `1:2:3`; also a time of day.
    Ratio(Vec<Expr>),
    /// An unknown function, by its name: `f(x)`.
    Unknown(Arc<str>, Vec<Expr>),
    /// `±`: either sign. The part is what follows it; `a ± b` is `Add[a, PlusMinus(b)]`.
    PlusMinus(Box<Expr>),
    /// A quantity written with a percent sign.
    Percent(Box<Expr>),
    /// A quantity with a unit as written, e.g. `5 cm`, `3\text{ km/h}`, `$5`. Angles in degrees have the unit `°`, and so
    /// stand as arguments of functions too: `\sin 30^\circ`. Powers in units are written `cm^2`.
    Quantity(Box<Expr>, Arc<str>),
    /// `lhs op rhs`; a chain `a < b < c` is `Chain`.
    Relation(Relation, Box<Expr>, Box<Expr>),
    /// Relations that hold together, in the order written (a chain, or joined by `and`).
    Chain(Vec<Expr>),
    /// Alternatives joined by `or` or `\lor`.
    Either(Vec<Expr>),
    /// A finite set `{…}`; empty for `\emptyset`.
    Set(Vec<Expr>),
    /// A tuple, point or vector `(…)` of two or more parts. `(a,b)` is a `Tuple`; whether it is an interval is for the
    /// comparison to say.
    Tuple(Vec<Expr>),
    /// Several answers listed without brackets: `1, 2`, `3 and 4`.
    List(Vec<Expr>),
    /// An interval with at least one square or reversed bracket. The flags say whether the ends belong to it.
    Interval {
        low: Box<Expr>,
        high: Box<Expr>,
        /// Whether `low` belongs to it.
        low_closed: bool,
        /// Whether `high` belongs to it.
        high_closed: bool,
    },
    /// `\cup`
    Union(Vec<Expr>),
    /// `\cap`
    Intersection(Vec<Expr>),
    /// `A \setminus B`
    Difference(Box<Expr>, Box<Expr>),
    /// A named set: `R`, `Q`, `Z`, `N`, `C`.
    NamedSet(Arc<str>),
    /// A set by its condition, `{x | …}`: variable, condition.
    SetBuilder(Box<Expr>, Box<Expr>),
    /// A matrix by rows, all of one length; a column vector has rows of one.
    Matrix(Vec<Vec<Expr>>),
    /// A sum, product, integral or limit: what, body, variable, from, to. Absent ends: indefinite.
    Quantified {
        what: Quantifier,
        /// What is summed, integrated, or taken to the limit.
        body: Box<Expr>,
        variable: Arc<str>,
        /// Lower end; of a limit, the point approached.
        from: Option<Box<Expr>>,
        to: Option<Box<Expr>>,
    },
    /// Words before an expression: `\text{Area: } 5`, `\text{(B) } 7`.
    Labelled(Arc<str>, Box<Expr>),
    /// Values with the conditions under which they hold, from `cases`; `otherwise` is `Truth(true)`.
    Piecewise(Vec<(Expr, Expr)>),
    /// Words: `\text{…}` or an answer that is no mathematics; trimmed, inner white space single.
    Text(Arc<str>),
    /// `true` or `false`, yes or no.
    Truth(bool),
}

/// A number written with decimals.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounded {
    /// Exactly what was written.
    pub value: RBig,
    /// Digits after the point, less the exponent: `1.50` has 2, `1.5e3` has −2.
    pub places: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Constant {
    /// π
    Pi,
    /// Euler's number
    E,
    /// The imaginary unit
    I,
    /// ∞
    Infinity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// =
    Equal,
    /// ≠
    NotEqual,
    /// <
    Less,
    /// ≤
    AtMost,
    /// >
    Greater,
    /// ≥
    AtLeast,
    /// ≈
    About,
    /// ∈
    In,
    /// ∉
    NotIn,
    Within,
    /// ∼, ≅: similar or congruent figures
    Similar,
    /// ∝
    Proportional,
    /// ∥
    Parallel,
    /// ⊥
    Perpendicular,
    /// `a | b`: divides
    Divides,
    /// ⇒
    Implies,
    /// ⇔
    Equivalent,
    /// →, as in `x \to 0` and `f: A \to B`
    Tends,
    /// ≡, with the modulus, where there is one, as a `Tuple` on the right-hand side
    Congruent,
}

/// Known functions. Arguments in the usual order; `Log` has base second where it was written, `Root` is a power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Function {
    Sin,
    Cos,
    Tan,
    Cot,
    Sec,
    Csc,
    Arcsin,
    Arccos,
    Arctan,
    Arccot,
    Arcsec,
    Arccsc,
    Sinh,
    Cosh,
    Tanh,
    Coth,
    Arsinh,
    Arcosh,
    Artanh,
    /// Natural logarithm.
    Ln,
    /// Logarithm; base second, 10 where none was written.
    Log,
    Exp,
    Abs,
    Sign,
    Floor,
    Ceiling,
    Factorial,
    DoubleFactorial,
    Gamma,
    Binomial,
    Permutations,
    Gcd,
    Lcm,
    Max,
    Min,
    Mod,
    Re,
    Im,
    Conjugate,
    Arg,
    Determinant,
    Trace,
    Transpose,
    Norm,
    Rank,
}

/// What binds a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Quantifier {
    Sum,
    Product,
    Integral,
    Limit,
    Derivative,
}
