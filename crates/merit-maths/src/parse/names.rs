//! How functions, relations and constants are written in a plain line.

use crate::{Constant, Function, Quantifier, Relation};

pub(super) fn constant_name(constant: Constant) -> &'static str {
    match constant {
        Constant::Pi => "pi",
        Constant::E => "e",
        Constant::I => "i",
        Constant::Infinity => "oo",
    }
}

pub(super) fn quantifier_name(quantifier: Quantifier) -> &'static str {
    match quantifier {
        Quantifier::Sum => "sum",
        Quantifier::Product => "product",
        Quantifier::Integral => "integral",
        Quantifier::Limit => "limit",
        Quantifier::Derivative => "derivative",
    }
}

pub(super) fn relation_sign(relation: Relation) -> &'static str {
    match relation {
        Relation::Equal => "=",
        Relation::NotEqual => "!=",
        Relation::Less => "<",
        Relation::AtMost => "<=",
        Relation::Greater => ">",
        Relation::AtLeast => ">=",
        Relation::About => "≈",
        Relation::In => "in",
        Relation::NotIn => "not in",
        Relation::Within => "⊆",
        Relation::Congruent => "≡",
        Relation::Similar => "~",
        Relation::Proportional => "∝",
        Relation::Parallel => "∥",
        Relation::Perpendicular => "⊥",
        Relation::Divides => "|",
        Relation::Implies => "=>",
        Relation::Equivalent => "<=>",
        Relation::Tends => "->",
    }
}

pub(super) fn function_name(function: Function) -> &'static str {
    match function {
        Function::Sin => "sin",
        Function::Cos => "cos",
        Function::Tan => "tan",
        Function::Cot => "cot",
        Function::Sec => "sec",
        Function::Csc => "csc",
        Function::Arcsin => "arcsin",
        Function::Arccos => "arccos",
        Function::Arctan => "arctan",
        Function::Arccot => "arccot",
        Function::Arcsec => "arcsec",
        Function::Arccsc => "arccsc",
        Function::Sinh => "sinh",
        Function::Cosh => "cosh",
        Function::Tanh => "tanh",
        Function::Coth => "coth",
        Function::Arsinh => "arsinh",
        Function::Arcosh => "arcosh",
        Function::Artanh => "artanh",
        Function::Ln => "ln",
        Function::Log => "log",
        Function::Exp => "exp",
        Function::Abs => "abs",
        Function::Sign => "sign",
        Function::Floor => "floor",
        Function::Ceiling => "ceiling",
        Function::Factorial => "factorial",
        Function::DoubleFactorial => "double_factorial",
        Function::Gamma => "gamma",
        Function::Binomial => "binomial",
        Function::Permutations => "permutations",
        Function::Gcd => "gcd",
        Function::Lcm => "lcm",
        Function::Max => "max",
        Function::Min => "min",
        Function::Mod => "mod",
        Function::Re => "re",
        Function::Im => "im",
        Function::Conjugate => "conjugate",
        Function::Arg => "arg",
        Function::Determinant => "det",
        Function::Trace => "trace",
        Function::Transpose => "transpose",
        Function::Norm => "norm",
        Function::Rank => "rank",
    }
}
