//! Named functions with their powers, bases and arguments: `\sin^2 x`, `\log_2 8`, `\gcd(a, b)`.

use super::ParseError;
use super::cursor::{Parser, twice_deeper};
use super::kind::{Bracket, Kind};
use super::names::function_name;
use super::product::multiply;
use crate::{Budget, Expr, Function};
use dashu_ratio::RBig;

impl Parser<'_> {
    /// The function here, applied.
    pub(super) fn function(&mut self, function: Function, budget: &mut Budget) -> Result<Expr, ParseError> {
        self.at += 1;
        self.applied(function, budget)
    }

    /// The function whose name was just taken, applied.
    pub(super) fn applied(&mut self, function: Function, budget: &mut Budget) -> Result<Expr, ParseError> {
        let scripts = self.scripts(budget)?;
        let arguments = budget.deeper(|budget| self.arguments(budget))?;
        Ok(apply(function, scripts, arguments))
    }

    /// What stands below and above the sign just taken, in either order.
    pub(super) fn scripts(&mut self, budget: &mut Budget) -> Result<Scripts, ParseError> {
        let mut scripts = Scripts::default();
        loop {
            let place = match self.kind() {
                Kind::Caret if scripts.above.is_none() => &mut scripts.above,
                Kind::Underscore if scripts.below.is_none() => &mut scripts.below,
                _ => return Ok(scripts),
            };
            self.at += 1;
            *place = Some(Box::new(twice_deeper(budget, |budget| self.script(budget))?));
        }
    }

    /// What stands in the brackets after a function, or the product that follows it; nothing where neither does.
    pub(super) fn arguments(&mut self, budget: &mut Budget) -> Result<Vec<Expr>, ParseError> {
        match self.kind() {
            Kind::Open(
                Bracket::Paren | Bracket::Group | Bracket::Styled | Bracket::Brace | Bracket::Square,
            ) => self.bracket(budget).map(parts),
            Kind::Minus | Kind::Plus if self.operand_at(1) => {
                let minus = self.take().kind == Kind::Minus;
                let mut factors = self.open_argument(budget)?;
                if minus {
                    factors = vec![super::product::negate(multiply(factors))];
                }
                Ok(vec![multiply(factors)])
            }
            _ if self.operand_at(0) => self.open_argument(budget).map(|factors| vec![multiply(factors)]),
            _ => Ok(Vec::new()),
        }
    }

    fn operand_at(&self, ahead: usize) -> bool {
        match self.kind_at(ahead) {
            Kind::Digits | Kind::Bar | Kind::DoubleBar | Kind::Roman => {
                self.bars == 0 || ahead == 0 && self.starts_factor()
            }
            Kind::Word => true,
            Kind::Open(_) | Kind::Frac | Kind::Binom | Kind::Sqrt | Kind::Fun(_) | Kind::Letter(_) => true,
            Kind::Const(_) | Kind::Big(_) | Kind::Mark(_) | Kind::Overline | Kind::Begin | Kind::Unknown => {
                true
            }
            _ => false,
        }
    }

    /// An argument without brackets goes on until another function, a bracket, or an operator.
    fn open_argument(&mut self, budget: &mut Budget) -> Result<Vec<Expr>, ParseError> {
        let mut factors = Vec::new();
        loop {
            factors.push(budget.deeper(|budget| self.factor(budget))?);
            if !self.starts_factor() || self.unit_ahead() || self.ends_argument(&factors) {
                return Ok(factors);
            }
        }
    }

    fn ends_argument(&self, factors: &[Expr]) -> bool {
        match self.kind() {
            Kind::Fun(_) | Kind::Open(_) | Kind::Big(_) | Kind::Bar | Kind::Currency(_) | Kind::Begin => true,
            Kind::Sqrt | Kind::Frac => {
                !factors.iter().all(|factor| matches!(factor, Expr::Num(_) | Expr::Decimal(_)))
            }
            Kind::Word => self.names_function(),
            _ => false,
        }
    }
}

/// What stands below and above a function or a big operator.
#[derive(Default)]
pub(super) struct Scripts {
    pub(super) below: Option<Box<Expr>>,
    pub(super) above: Option<Box<Expr>>,
}

fn parts(arguments: Expr) -> Vec<Expr> {
    match arguments {
        Expr::Tuple(parts) | Expr::Set(parts) | Expr::List(parts) => parts,
        Expr::Interval { low, high, .. } => vec![*low, *high],
        one => vec![one],
    }
}

/// The function of its arguments, its base second; raised to the power above it, or inverted by −1 there.
fn apply(function: Function, scripts: Scripts, mut arguments: Vec<Expr>) -> Expr {
    if arguments.is_empty() {
        return raised(Expr::Symbol(function_name(function).into()), scripts.above);
    }
    if let Some(base) = scripts.below {
        arguments.insert(1, *base);
    }
    match (scripts.above.as_deref(), inverse(function)) {
        (Some(Expr::Num(power)), Some(inverse)) if *power == RBig::NEG_ONE => Expr::Apply(inverse, arguments),
        _ => raised(Expr::Apply(function, arguments), scripts.above),
    }
}

fn raised(base: Expr, power: Option<Box<Expr>>) -> Expr {
    match power {
        Some(power) => Expr::Pow(Box::new(base), power),
        None => base,
    }
}

fn inverse(function: Function) -> Option<Function> {
    Some(match function {
        Function::Sin => Function::Arcsin,
        Function::Cos => Function::Arccos,
        Function::Tan => Function::Arctan,
        Function::Cot => Function::Arccot,
        Function::Sec => Function::Arcsec,
        Function::Csc => Function::Arccsc,
        Function::Sinh => Function::Arsinh,
        Function::Cosh => Function::Arcosh,
        Function::Tanh => Function::Artanh,
        _ => return None,
    })
}
