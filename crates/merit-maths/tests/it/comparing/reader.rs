//! A small formula notation for these tests: `2*x + sqrt(8)/3`, functions by their names, `pi`, `e`, `i`, `inf`. Apart
//! from the crate's own parser, so that the comparison is tested alone.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use merit_maths::{Constant, Expr, Function, Rounded};

struct Reader<'t> {
    rest: &'t str,
}

pub(crate) fn expr(text: &str) -> Expr {
    let mut reader = Reader { rest: text.trim() };
    let read = reader.sum();
    assert!(reader.rest.is_empty(), "could not read `{}` of `{text}`", reader.rest);
    read
}

fn num(value: i64) -> Expr {
    Expr::Num(RBig::from(value))
}

impl Reader<'_> {
    fn eat(&mut self, token: char) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.strip_prefix(token);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn sum(&mut self) -> Expr {
        let mut parts = vec![self.product()];
        loop {
            if self.eat('+') {
                parts.push(self.product());
            } else if self.eat('-') {
                parts.push(Expr::Mul(vec![num(-1), self.product()]));
            } else {
                return one_or(parts, Expr::Add);
            }
        }
    }

    fn product(&mut self) -> Expr {
        let mut parts = vec![self.signed()];
        loop {
            if self.eat('*') {
                parts.push(self.signed());
            } else if self.eat('/') {
                parts.push(Expr::Pow(Box::new(self.signed()), Box::new(num(-1))));
            } else {
                return one_or(parts, Expr::Mul);
            }
        }
    }

    fn signed(&mut self) -> Expr {
        if self.eat('-') {
            return Expr::Mul(vec![num(-1), self.signed()]);
        }
        if self.eat('±') {
            return Expr::PlusMinus(Box::new(self.signed()));
        }
        let base = self.factor();
        if self.eat('^') { Expr::Pow(Box::new(base), Box::new(self.signed())) } else { base }
    }

    fn factor(&mut self) -> Expr {
        let mut value = self.atom();
        while self.eat('!') {
            value = Expr::Apply(Function::Factorial, vec![value]);
        }
        value
    }

    fn atom(&mut self) -> Expr {
        if self.eat('(') {
            let inner = self.sum();
            assert!(self.eat(')'));
            return inner;
        }
        self.rest = self.rest.trim_start();
        let digits = self.take(|c| c.is_ascii_digit() || c == '.');
        if !digits.is_empty() {
            return number(&digits);
        }
        let name = self.take(|c| c.is_alphanumeric() || c == '_');
        assert!(!name.is_empty(), "expected a value at `{}`", self.rest);
        if self.eat('(') {
            let mut arguments = vec![self.sum()];
            while self.eat(',') {
                arguments.push(self.sum());
            }
            assert!(self.eat(')'));
            return applied(&name, arguments);
        }
        match name.as_str() {
            "pi" => Expr::Constant(Constant::Pi),
            "e" => Expr::Constant(Constant::E),
            "i" => Expr::Constant(Constant::I),
            "inf" => Expr::Constant(Constant::Infinity),
            _ => Expr::Symbol(name.as_str().into()),
        }
    }

    fn take(&mut self, keep: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken.to_string()
    }
}

fn one_or(mut parts: Vec<Expr>, make: fn(Vec<Expr>) -> Expr) -> Expr {
    if parts.len() == 1 { parts.remove(0) } else { make(parts) }
}

fn number(digits: &str) -> Expr {
    let Some((whole, places)) = digits.split_once('.') else {
        return Expr::Num(RBig::from(digits.parse::<IBig>().unwrap()));
    };
    let value: IBig = format!("{whole}{places}").parse().unwrap();
    let value = RBig::from_parts(value, UBig::from(10u8).pow(places.len()));
    Expr::Decimal(Rounded { value, places: i32::try_from(places.len()).unwrap() })
}

fn applied(name: &str, arguments: Vec<Expr>) -> Expr {
    let function = match name {
        "sqrt" | "cbrt" => {
            let order = if name == "sqrt" { 2u8 } else { 3 };
            let root = Expr::Num(RBig::from_parts(1.into(), order.into()));
            return Expr::Pow(Box::new(arguments[0].clone()), Box::new(root));
        }
        "sin" => Function::Sin,
        "cos" => Function::Cos,
        "tan" => Function::Tan,
        "cot" => Function::Cot,
        "sec" => Function::Sec,
        "csc" => Function::Csc,
        "arcsin" => Function::Arcsin,
        "arccos" => Function::Arccos,
        "arctan" => Function::Arctan,
        "sinh" => Function::Sinh,
        "cosh" => Function::Cosh,
        "tanh" => Function::Tanh,
        "ln" => Function::Ln,
        "log" => Function::Log,
        "exp" => Function::Exp,
        "abs" => Function::Abs,
        "floor" => Function::Floor,
        "ceil" => Function::Ceiling,
        "binom" => Function::Binomial,
        "gcd" => Function::Gcd,
        "lcm" => Function::Lcm,
        "gamma" => Function::Gamma,
        "dfact" => Function::DoubleFactorial,
        "max" => Function::Max,
        "re" => Function::Re,
        "conj" => Function::Conjugate,
        _ => return Expr::Unknown(name.into(), arguments),
    };
    Expr::Apply(function, arguments)
}
