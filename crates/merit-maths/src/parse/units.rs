//! Units after an amount: in `\text{}`, in upright letters, or bare.

use super::Mode;
use super::cursor::Parser;
use super::kind::{Bracket, Kind, Token};
use super::wording::{is_word, normalize};
use crate::units::{Reading, find};
use std::sync::Arc;

impl Parser<'_> {
    /// Whether a unit stands here, after an amount.
    pub(super) fn unit_ahead(&self) -> bool {
        let token = self.token(0);
        let after_number = self
            .previous()
            .is_some_and(|t| matches!(t.kind, Kind::Digits | Kind::Close(_) | Kind::Degree | Kind::Percent));
        match token.kind {
            Kind::Text => self.connective().is_none(),
            Kind::Roman => self.connective().is_none() && self.upright_unit(token, after_number),
            Kind::Word => after_number && self.connective().is_none() && self.bare_unit(token),
            Kind::Currency(_) => after_number && !matches!(self.kind_at(1), Kind::Digits | Kind::Dot),
            _ => false,
        }
    }

    /// The unit here, with the powers and quotients that belong to it.
    pub(super) fn unit(&mut self) -> Option<Arc<str>> {
        if !self.unit_ahead() {
            return None;
        }
        if let Kind::Currency(sign) = self.kind() {
            self.at += 1;
            return Some(sign.into());
        }
        let mut unit = self.unit_part();
        loop {
            match self.kind() {
                Kind::Caret => match self.unit_power() {
                    Some(power) => unit.push_str(&power),
                    None => break,
                },
                Kind::Slash | Kind::Times if self.unit_follows() => {
                    unit.push(if self.take().kind == Kind::Slash { '/' } else { '*' });
                    unit.push_str(&self.unit_part());
                }
                Kind::Text | Kind::Roman | Kind::Word if self.unit_goes_on() => {
                    let part = self.unit_part();
                    if !part.starts_with(['/', '^']) {
                        unit.push(' ');
                    }
                    unit.push_str(&part);
                }
                _ => break,
            }
        }
        Some(spelled(&unit).into())
    }

    fn unit_part(&mut self) -> String {
        let token = self.take();
        normalize(self.source(token))
    }

    /// `^2`, `^{-1}` after a unit.
    fn unit_power(&mut self) -> Option<String> {
        let grouped = usize::from(matches!(
            self.kind_at(1),
            Kind::Open(Bracket::Group | Bracket::Styled | Bracket::Brace)
        ));
        let minus = usize::from(matches!(self.kind_at(1 + grouped), Kind::Minus));
        let digits = self.token(1 + grouped + minus);
        if digits.kind != Kind::Digits || grouped == 1 && !matches!(self.kind_at(3 + minus), Kind::Close(_)) {
            return None;
        }
        self.at += 2 + 2 * grouped + minus;
        Some(format!("^{}{}", if minus == 1 { "-" } else { "" }, self.source(digits)))
    }

    fn unit_follows(&self) -> bool {
        let token = self.token(1);
        match token.kind {
            Kind::Text | Kind::Roman => true,
            Kind::Word => token.end - token.start <= 4 || is_word(self.source(token)),
            _ => false,
        }
    }

    fn unit_goes_on(&self) -> bool {
        let token = self.token(0);
        match token.kind {
            Kind::Word => {
                let word = self.source(token);
                self.connective().is_none() && token.gap && (is_word(word) || is_unit(word))
            }
            _ => self.connective().is_none(),
        }
    }

    fn upright_unit(&self, token: Token, after_number: bool) -> bool {
        let name = normalize(self.source(token));
        match name.as_str() {
            "" | "d" | "e" | "i" | "T" => false,
            name if name.len() == 1 => after_number && is_unit_letter(name),
            name => {
                !matches!(super::letters::named_kind(name), Some(Kind::Fun(_)))
                    || name == "min"
                    || name == "sec"
            }
        }
    }

    /// Letters without any mark: known units, words, and in plain text single letters at the very end.
    fn bare_unit(&self, token: Token) -> bool {
        let word = self.source(token);
        if self.is_rest_of_word(token.start) {
            return false;
        }
        if word.len() == 1 {
            let next = self.token(1);
            let last = matches!(next.kind, Kind::End | Kind::Slash)
                || next.kind == Kind::Digits && next.gap && matches!(word, "h" | "m" | "s")
                || matches!(
                    (self.kind_at(1), self.kind_at(self.at_end_of_power())),
                    (Kind::Caret, Kind::End)
                );
            let decimal = self
                .at
                .checked_sub(2)
                .and_then(|at| self.tokens.get(at))
                .is_some_and(|t| t.kind == Kind::Dot);
            return self.mode == Mode::Plain && last && (token.gap || decimal) && is_unit_letter(word);
        }
        if matches!(word, "per" | "sq" | "cu") {
            return self.kind_at(1) == Kind::Word && is_unit(self.source(self.token(1)));
        }
        BARE.binary_search(&word).is_ok()
            || (token.gap || self.mode == Mode::Plain) && SPACED.contains(&word)
            || word.len() > 3 && is_word(word) && !self.names_function()
    }

    /// How far ahead the token after `m^2` or `m^{2}` stands.
    fn at_end_of_power(&self) -> usize {
        if matches!(self.kind_at(2), Kind::Open(_)) { 5 } else { 3 }
    }
}

fn is_unit(word: &str) -> bool {
    find(word, Reading::Answer).is_some()
}

fn is_unit_letter(letter: &str) -> bool {
    matches!(letter, "m" | "s" | "g" | "h" | "L" | "l" | "N" | "J" | "W" | "V" | "A" | "K" | "C" | "F")
}

/// How many a word after a number multiplies it by.
pub(crate) fn scale(word: &str) -> Option<u64> {
    let word = word.to_ascii_lowercase();
    Some(match word.strip_suffix('s').unwrap_or(&word) {
        "hundred" => 100,
        "thousand" => 1_000,
        "million" => 1_000_000,
        "billion" => 1_000_000_000,
        "trillion" => 1_000_000_000_000,
        "lakh" => 100_000,
        "crore" => 10_000_000,
        "dozen" => 12,
        "gross" | "gros" => 144,
        _ => return None,
    })
}

/// Percent in words is the sign.
pub(super) fn spelled(unit: &str) -> &str {
    match unit {
        "percent" | "Percent" | "pct" | "Pct" | "percentage" | "Percentage" | "per cent" | "%" => "%",
        "degrees" | "degree" => "°",
        other => other,
    }
}

/// Units that two or three letters after a number always are, sorted.
const BARE: &[&str] = &[
    "Hz", "cc", "cm", "dm", "ft", "gal", "hr", "hrs", "kHz", "kJ", "kPa", "kW", "kg", "km", "kmh", "kmph",
    "kph", "lb", "lbs", "mL", "mg", "min", "mins", "ml", "mm", "mph", "oz", "pct", "rad", "sec", "secs",
    "yd", "yds", "yrs",
];

/// Units that are so only after a space; else they might be letters of a product.
const SPACED: &[&str] = &["AM", "PM", "am", "cm", "deg", "in", "ms", "mol", "nm", "pm", "yr"];
