//! Words: what is text rather than mathematics, what joins two answers, what is a label.

use super::answer::Joint;
use super::cursor::Parser;
use super::kind::Kind;
use super::{Mode, ParseError};
use crate::{Budget, Expr};
use std::sync::Arc;

impl Parser<'_> {
    /// The joint that the words here are, and how many bytes of the token it takes.
    pub(super) fn connective(&self) -> Option<(Joint, usize)> {
        let token = self.token(0);
        let source = self.source(token);
        match token.kind {
            Kind::Word => self.connecting_word(source),
            Kind::Text | Kind::Roman => connecting_text(source).map(|joint| (joint, source.len())),
            _ => None,
        }
    }

    /// Whether `or so` stands here and ends what is said: it joins nothing, and the answer is what stands before it.
    pub(super) fn at_or_so(&self) -> bool {
        let is = |at: usize, word: &str| {
            self.kind_at(at) == Kind::Word && self.source(self.token(at)).eq_ignore_ascii_case(word)
        };
        let ends = matches!(self.kind_at(2), Kind::End | Kind::Dot | Kind::Comma | Kind::Close(_));
        is(0, "or") && is(1, "so") && ends
    }

    fn connecting_word(&self, word: &str) -> Option<(Joint, usize)> {
        if word.eq_ignore_ascii_case("and") {
            return Some((Joint::And, 3));
        }
        if word.eq_ignore_ascii_case("or") {
            return Some((Joint::Or, 2));
        }
        // `x=1orx=2`: after a value, before one letter.
        let after_value = self.previous().is_some_and(|t| matches!(t.kind, Kind::Digits | Kind::Close(_)));
        let glued = |joint: &str| word.strip_prefix(joint).is_some_and(|rest| rest.chars().count() == 1);
        match (after_value, glued("or"), glued("and")) {
            (true, true, _) => Some((Joint::Or, 2)),
            (true, _, true) => Some((Joint::And, 3)),
            _ => None,
        }
    }

    /// `\text{…}` as an atom.
    pub(super) fn text_atom(&mut self) -> Result<Expr, ParseError> {
        let token = self.take();
        let text = normalize(self.source(token));
        if text.is_empty() {
            return self.unexpected("a number, a letter or an opening bracket");
        }
        Ok(truth_or_text(text.into()))
    }

    /// `\mathrm{…}`: a constant, a letter, a function's name, a unit or words.
    pub(super) fn roman(&mut self, budget: &mut Budget) -> Result<Expr, ParseError> {
        let token = self.token(0);
        let source = self.source(token).trim();
        if self.integrals > 0 && self.at_differential() {
            self.differential = Some(self.take_differential());
            return Ok(super::cursor::whole(1));
        }
        self.at += 1;
        if source.chars().count() == 1 && source.chars().all(char::is_alphabetic) {
            return self.variable(source.into(), budget);
        }
        if let Some(Kind::Fun(function)) = super::letters::named_kind(source) {
            return self.applied(function, budget);
        }
        if !source.is_empty() && source.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(Expr::Text(source.into()));
        }
        let name = normalize(source);
        if matches!(self.kind(), Kind::Underscore) {
            return Ok(Expr::Symbol(self.decorated(name.into(), budget)?));
        }
        if matches!(self.kind(), Kind::Open(super::kind::Bracket::Paren)) && !name.contains(' ') {
            let arguments = budget.deeper(|budget| self.arguments(budget))?;
            return Ok(Expr::Unknown(name.into(), arguments));
        }
        Ok(truth_or_text(name.into()))
    }

    /// Words before an expression, taken; nothing where the words are all there is.
    pub(super) fn label(&mut self) -> Option<Arc<str>> {
        let before = self.at;
        let text: Arc<str> = match self.kind() {
            Kind::Text if self.connective().is_none() => {
                let token = self.take();
                normalize(self.source(token)).into()
            }
            Kind::Word => match self.words()? {
                Expr::Text(text) => text,
                _ => {
                    self.at = before;
                    return None;
                }
            },
            _ => return None,
        };
        let colon = matches!(self.kind(), Kind::Colon);
        self.at += usize::from(colon);
        let goes_on = match self.kind() {
            Kind::Word => self.connective().is_none(),
            Kind::Digits | Kind::Minus | Kind::Plus | Kind::PlusMinus | Kind::Dot => self.has_operand(),
            _ => self.starts_factor(),
        };
        if !goes_on {
            self.at = before;
            return None;
        }
        Some(text.trim_end_matches([':', ' ']).into())
    }

    fn has_operand(&self) -> bool {
        match self.kind() {
            Kind::Dot => matches!(self.kind_at(1), Kind::Digits),
            Kind::Digits => true,
            _ => !matches!(self.kind_at(1), Kind::Word | Kind::End),
        }
    }

    /// Words without `\text`, as many as stand together; nothing where the letters are mathematics.
    pub(super) fn words(&mut self) -> Option<Expr> {
        let first = self.token(0);
        if !self.begins_words() {
            return None;
        }
        let mut last = first;
        self.at += 1;
        loop {
            let token = self.token(0);
            let next = match token.kind {
                Kind::Word => self.connective().is_none() && (token.gap || last.kind == Kind::Minus),
                Kind::Minus => !token.gap && self.kind_at(1) == Kind::Word && !self.token(1).gap,
                Kind::Prime => self.kind_at(1) == Kind::Word && !self.token(1).gap,
                _ => false,
            };
            if !next || token.kind == Kind::Word && self.is_mathematics(token) {
                break;
            }
            last = token;
            self.at += 1;
        }
        let text = self.text.get(first.start as usize..last.end as usize).unwrap_or_default();
        Some(truth_or_text(normalize(text).into()))
    }

    /// A single letter among words is a word only as the article.
    fn is_mathematics(&self, token: super::kind::Token) -> bool {
        let word = self.source(token);
        let single = token.end - token.start == 1;
        word != "a" && (single || self.kind_at(1) == Kind::Rel(crate::Relation::Equal))
    }

    fn begins_words(&self) -> bool {
        let token = self.token(0);
        let word = self.source(token);
        if self.is_rest_of_word(token.start) || self.connective().is_some() || self.names_something() {
            return false;
        }
        if self.introduces() {
            return true;
        }
        if matches!(word, "no" | "No" | "NO" | "is" | "if" | "If") {
            return matches!(self.kind_at(1), Kind::Word | Kind::End)
                && (self.mode == Mode::Plain || self.at == 0);
        }
        let before =
            self.previous().is_none_or(|t| matches!(t.kind, Kind::Comma | Kind::Semicolon | Kind::Open(_)));
        let after =
            matches!(self.kind_at(1), Kind::End | Kind::Word | Kind::Comma | Kind::Close(_) | Kind::Dot);
        is_word(word) && (word.len() > 3 || before && after)
    }

    /// Whether a short word here only leads on to what is said: `so 42`, `is 42`, `We get 42`. Letters that are no such word are
    /// variables, so that `ab 42` is a product.
    fn introduces(&self) -> bool {
        const LEADING: [&str; 18] = [
            "so", "is", "it", "its", "be", "we", "get", "got", "are", "was", "ans", "the", "to", "now",
            "for", "but", "yes", "has",
        ];
        let (word, next) = (self.source(self.token(0)), self.token(1));
        let begins =
            word.split_at_checked(1).is_some_and(|(_, rest)| rest.bytes().all(|b| b.is_ascii_lowercase()));
        let leads = begins && LEADING.iter().any(|known| word.eq_ignore_ascii_case(known));
        let first = self.tokens.iter().take(self.at).all(|token| token.kind == Kind::Word);
        let operand =
            matches!(next.kind, Kind::Digits | Kind::Minus | Kind::Word | Kind::Dot | Kind::Open(_))
                || next.kind == Kind::Frac;
        leads && first && next.gap && operand
    }

    /// The whole text as words, where it has at least this many of them and no command.
    pub(super) fn prose(&self, at_least: usize) -> Option<Expr> {
        let words = self.tokens.iter().filter(|t| t.kind == Kind::Word && is_word(self.source(**t)));
        let enough = words.take(at_least).count() == at_least;
        (enough && !self.original.contains('\\')).then(|| Expr::Text(normalize(self.original).into()))
    }
}

fn connecting_text(source: &str) -> Option<Joint> {
    let words = source.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '~' | '\\' | ';'));
    let last = words.rsplit([' ', '~']).next().unwrap_or_default();
    match (words, last) {
        ("", _) => Some(Joint::Comma),
        (_, "and" | "And" | "&") => Some(Joint::And),
        (_, "or" | "Or") => Some(Joint::Or),
        _ => None,
    }
}

/// `yes`, `no`, `true`, `false`, or the words as they are.
pub(super) fn truth_or_text(text: Arc<str>) -> Expr {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    match () {
        () if is("true") || is("yes") => Expr::Truth(true),
        () if is("false") || is("no") => Expr::Truth(false),
        () => Expr::Text(text),
    }
}

/// Trimmed, inner white space single, escapes and a lone full stop at the end removed.
pub(super) fn normalize(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut characters = raw.chars().peekable();
    while let Some(c) = characters.next() {
        let c = match c {
            '\\' => match characters.next() {
                Some(escaped @ ('%' | '$' | '&' | '#' | '_' | '{' | '}')) => escaped,
                Some(other) if other.is_alphabetic() => {
                    text.push('\\');
                    other
                }
                _ => ' ',
            },
            '~' | '$' | '{' | '}' => ' ',
            other => other,
        };
        match c.is_whitespace() {
            true if text.is_empty() || text.ends_with(' ') => {}
            true => text.push(' '),
            false => text.push(c),
        }
    }
    let trimmed = text.trim_end_matches([' ', ',', ';']);
    let trimmed = match trimmed.strip_suffix('.') {
        Some(sentence) if !sentence.contains('.') => sentence,
        _ => trimmed,
    };
    trimmed.trim().to_owned()
}

/// Whether letters look like a word rather than a product: three or more, with a vowel and a consonant, no capital but
/// the first, and not letters in a row such as `abc` or `xyz`.
pub(super) fn is_word(word: &str) -> bool {
    if !word.is_ascii() {
        return true;
    }
    if matches!(word, "YES" | "NO" | "TRUE" | "FALSE" | "NONE" | "DNE") {
        return true;
    }
    let bytes = word.as_bytes();
    let lower = bytes.iter().skip(1).all(u8::is_ascii_lowercase);
    if bytes.len() < 3 || !lower {
        return false;
    }
    let vowel = |b: &u8| matches!(b.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    let in_a_row = bytes.windows(2).all(|pair| {
        let (a, b) = (pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase());
        b > a && b - a <= 3
    });
    bytes.iter().any(vowel) && !bytes.iter().all(vowel) && !in_a_row
}
