//! Whole numbers in another base that the digits alone do not show: `1A3_{16}`, `0xFF`, `1011 base 2`.

use super::cursor::Parser;
use super::kind::{Bracket, Kind};
use crate::Expr;

impl Parser<'_> {
    /// The numeral here, taken; nothing where there is none, or where it is plain digits with a subscript.
    pub(super) fn numeral_in_base(&mut self) -> Option<Expr> {
        /// Longer ones are not written in letters.
        const LONGEST: usize = 64;
        let mut digits = String::new();
        let mut ahead = 0;
        while matches!(self.kind_at(ahead), Kind::Digits | Kind::Word)
            && (ahead == 0 || !self.token(ahead).gap)
        {
            digits.push_str(self.source(self.token(ahead)));
            ahead += 1;
            if digits.len() > LONGEST {
                return None;
            }
        }
        for (prefix, base) in [("0x", 16), ("0b", 2), ("0o", 8)] {
            let bare = digits.strip_prefix(prefix).filter(|bare| is_numeral(bare, base));
            if let Some(bare) = bare.filter(|_| self.kind_at(ahead) != Kind::Underscore) {
                self.at += ahead;
                return Some(Expr::InBase(bare.into(), base));
            }
        }
        let letters = digits.bytes().any(|b| b.is_ascii_alphabetic());
        let mixed = digits.bytes().any(|b| b.is_ascii_digit());
        let (base, length, worded) = self.base_at(ahead)?;
        // `AB_{12}` is a name with a subscript, `FF_{16}` is not.
        let meant = if letters { mixed || base == 16 && digits.len() > 1 } else { worded };
        let upper = !digits.bytes().any(|b| b.is_ascii_lowercase());
        if !meant || !upper || !is_numeral(&digits, base) {
            return None;
        }
        self.at += ahead + length;
        Some(Expr::InBase(digits.into(), base))
    }

    /// The base that stands `ahead`, how many tokens it takes, and whether it is said in words.
    fn base_at(&self, ahead: usize) -> Option<(u32, usize, bool)> {
        let number = |at: usize| match self.kind_at(at) {
            Kind::Digits => {
                self.source(self.token(at)).parse::<u32>().ok().filter(|base| (2..=36).contains(base))
            }
            _ => None,
        };
        let word = |at: usize| self.kind_at(at) == Kind::Word && self.source(self.token(at)) == "base";
        match self.kind_at(ahead) {
            Kind::Underscore => match self.kind_at(ahead + 1) {
                Kind::Open(Bracket::Group | Bracket::Styled | Bracket::Brace) => {
                    let closed = matches!(self.kind_at(ahead + 3), Kind::Close(_));
                    number(ahead + 2).filter(|_| closed).map(|base| (base, 4, false))
                }
                _ => number(ahead + 1).map(|base| (base, 2, false)),
            },
            Kind::Word if word(ahead) => {
                let dash = usize::from(self.kind_at(ahead + 1) == Kind::Minus);
                number(ahead + 1 + dash).map(|base| (base, 2 + dash, true))
            }
            Kind::Open(Bracket::Paren) if word(ahead + 1) => {
                let closed = matches!(self.kind_at(ahead + 3), Kind::Close(_));
                number(ahead + 2).filter(|_| closed).map(|base| (base, 4, true))
            }
            Kind::Text => {
                let text = self.source(self.token(ahead)).trim();
                let base = text.trim_matches(['(', ')']).strip_prefix("base ")?.trim().parse().ok()?;
                (2..=36).contains(&base).then_some((base, 1, true))
            }
            _ => None,
        }
    }
}

fn is_numeral(digits: &str, base: u32) -> bool {
    !digits.is_empty() && digits.chars().all(|c| c.is_digit(base))
}
