//! Plain arithmetic as Python would read it: `+ - * / **` and brackets over numbers.

use super::grammar::build::{integer, negated, number, power, product, sum};
use merit_maths::{Budget, Exhausted, Expr};

/// The value of the text, unevaluated; nothing if it is not such arithmetic.
pub(super) fn arithmetic(text: &str, budget: &mut Budget) -> Result<Option<Expr>, Exhausted> {
    budget.spend(1 + text.len() as u64)?;
    let mut reader = Reader { rest: text.trim() };
    match reader.sum(budget) {
        Ok(value) if reader.peek().is_none() => Ok(Some(value)),
        Ok(_) | Err(None) => Ok(None),
        Err(Some(out)) => Err(out),
    }
}

struct Reader<'t> {
    rest: &'t str,
}

/// `None`: it does not match.
type Read = Result<Expr, Option<Exhausted>>;

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn eat(&mut self, word: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self, budget: &mut Budget) -> Read {
        let mut left = self.product(budget)?;
        loop {
            if self.eat("+") {
                left = sum(left, self.product(budget)?);
            } else if self.eat("-") {
                left = sum(left, negated(self.product(budget)?));
            } else {
                return Ok(left);
            }
        }
    }

    fn product(&mut self, budget: &mut Budget) -> Read {
        let mut left = self.signed(budget)?;
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.starts_with("**") || self.rest.starts_with("//") {
                return Ok(left);
            }
            if self.eat("*") {
                left = product(left, self.signed(budget)?);
            } else if self.eat("/") {
                let right = self.signed(budget)?;
                left = product(left, power(right, integer(-1)));
            } else {
                return Ok(left);
            }
        }
    }

    fn signed(&mut self, budget: &mut Budget) -> Read {
        deeper(budget, |b| {
            if self.eat("-") {
                return Ok(negated(self.signed(b)?));
            }
            if self.eat("+") {
                return self.signed(b);
            }
            let base = self.atom(b)?;
            if self.eat("**") {
                return Ok(power(base, self.signed(b)?));
            }
            Ok(base)
        })
    }

    fn atom(&mut self, budget: &mut Budget) -> Read {
        if self.eat("(") {
            let inside = deeper(budget, |b| self.sum(b))?;
            return if self.eat(")") { Ok(inside) } else { Err(None) };
        }
        let end = self.rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let (digits, rest) = self.rest.split_at(end);
        let integer = !digits.contains('.');
        let octal =
            integer && digits.len() > 1 && digits.starts_with('0') && digits.bytes().any(|b| b != b'0');
        if digits.bytes().filter(|b| *b == b'.').count() > 1
            || !digits.bytes().any(|b| b.is_ascii_digit())
            || octal
        {
            return Err(None);
        }
        self.rest = rest;
        number(digits).ok_or(None)
    }
}

fn deeper(budget: &mut Budget, rule: impl FnOnce(&mut Budget) -> Read) -> Read {
    let mut done = Err(None);
    let counted: Result<(), Exhausted> = budget.deeper(|b| {
        done = rule(b);
        Ok(())
    });
    counted.map_err(Some)?;
    done
}
