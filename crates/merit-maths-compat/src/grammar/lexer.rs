//! Characters to tokens: the longest token that fits, as a generated lexer would choose it.

use super::tokens::{ACCENTS, GREEK, LITERALS, SYMBOLS, Token};
use merit_maths::{Budget, Exhausted};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A token and its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexeme<'t> {
    pub(super) token: Token,
    pub(super) text: &'t str,
}

/// Spellings by first character, longest first.
struct Table {
    literals: HashMap<char, Vec<(&'static str, Token)>>,
    greek: Vec<&'static str>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut literals: HashMap<char, Vec<(&'static str, Token)>> = HashMap::new();
    for (token, spellings) in LITERALS {
        for spelling in spellings.split_whitespace() {
            let first = spelling.chars().next().unwrap_or(' ');
            literals.entry(first).or_default().push((spelling, *token));
        }
    }
    for spellings in literals.values_mut() {
        spellings.sort_by_key(|(spelling, _)| std::cmp::Reverse(spelling.len()));
    }
    Table { literals, greek: GREEK.split_whitespace().collect() }
});

/// All tokens but white space; nothing if some character starts none.
pub(super) fn tokens<'t>(text: &'t str, budget: &mut Budget) -> Result<Option<Vec<Lexeme<'t>>>, Exhausted> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        if rest.is_empty() {
            return Ok(Some(tokens));
        }
        budget.spend(1)?;
        let Some((token, length)) = longest(rest) else { return Ok(None) };
        if token != Token::Space {
            tokens.push(Lexeme { token, text: &rest[..length] });
        }
        rest = &rest[length..];
    }
}

/// The longest token at the start of `rest`; where two are equally long, the one the grammar names first.
fn longest(rest: &str) -> Option<(Token, usize)> {
    let first = rest.chars().next()?;
    let literal = TABLE.literals.get(&first).and_then(|spellings| {
        spellings
            .iter()
            .find(|(spelling, _)| rest.starts_with(spelling))
            .map(|(spelling, token)| (*token, spelling.len()))
    });
    let other = match first {
        '0'..='9' | '.' => number(rest),
        'd' => differential(rest).or(Some((Token::Letter, 1))),
        'a'..='z' | 'A'..='Z' => Some((Token::Letter, 1)),
        '\\' => command(rest),
        _ => greek_letter(rest, first),
    };
    match (literal, other) {
        // Literals come first in the grammar, save `matrix` and the like, which no letter can tie with.
        (Some(l), Some(o)) => Some(if o.1 > l.1 { o } else { l }),
        (one, two) => one.or(two),
    }
}

/// A number, a number with a percent sign, or one in scientific notation.
fn number(rest: &str) -> Option<(Token, usize)> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let integer = digits(0);
    let mut end = integer;
    if bytes.get(integer) == Some(&b'.') && digits(integer + 1) > 0 {
        end = integer + 1 + digits(integer + 1);
    }
    if end == 0 {
        return None;
    }
    let sign_at = end + usize::from(bytes.get(end).is_some_and(|b| b" \t\r\n".contains(b)));
    for sign in ["\\%", "%"] {
        if rest.get(sign_at..).is_some_and(|rest| rest.starts_with(sign)) {
            return Some((Token::Percent, sign_at + sign.len()));
        }
    }
    if bytes.get(end) == Some(&b'E') {
        let exponent = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if exponent < bytes.len() && digits(exponent) > 0 {
            return Some((Token::Scientific, exponent + digits(exponent)));
        }
    }
    Some((Token::Number, end))
}

/// `dx`, `d\theta`.
fn differential(rest: &str) -> Option<(Token, usize)> {
    let after = rest[1..].trim_start_matches([' ', '\t', '\r', '\n']);
    let skipped = rest.len() - after.len();
    match after.as_bytes().first()? {
        b'\\' => {
            let letters = after[1..].bytes().take_while(u8::is_ascii_alphabetic).count();
            (letters > 0).then_some((Token::Differential, skipped + 1 + letters))
        }
        b if b.is_ascii_alphabetic() => Some((Token::Differential, skipped + 1)),
        _ => None,
    }
}

fn command(rest: &str) -> Option<(Token, usize)> {
    let name = &rest[1..];
    let accent = accent(name).map(|length| (Token::Accent, 1 + length));
    let array = array_start(rest).map(|length| (Token::ArrayStart, length));
    let greek = prefix(name, &TABLE.greek).map(|length| (Token::Greek, spaced(rest, 1 + length)));
    let symbol = prefix(name, &SYMBOL_NAMES).map(|length| (Token::OtherSymbol, spaced(rest, 1 + length)));
    [greek, symbol, array, accent].into_iter().flatten().max_by_key(|(_, length)| *length)
}

static SYMBOL_NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| SYMBOLS.split_whitespace().collect());
static ACCENT_NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| ACCENTS.split_whitespace().collect());

/// The length of the longest of `names` that `text` starts with.
fn prefix(text: &str, names: &[&str]) -> Option<usize> {
    names.iter().filter(|name| name.is_ascii() && text.starts_with(**name)).map(|name| name.len()).max()
}

/// One space after a symbol belongs to it.
fn spaced(rest: &str, length: usize) -> usize {
    length + usize::from(rest.as_bytes().get(length) == Some(&b' '))
}

fn greek_letter(rest: &str, first: char) -> Option<(Token, usize)> {
    let mut buffer = [0; 4];
    let letter: &str = first.encode_utf8(&mut buffer);
    if TABLE.greek.contains(&letter) {
        return Some((Token::Greek, spaced(rest, letter.len())));
    }
    "ℵℶℷℸ".contains(first).then(|| (Token::OtherSymbol, spaced(rest, letter.len())))
}

/// `text{…}`: the command, perhaps one white space, and everything to the first closing brace.
fn accent(name: &str) -> Option<usize> {
    let letters = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    if !ACCENT_NAMES.contains(&&name[..letters]) {
        return None;
    }
    let after = &name[letters..];
    let open = after.strip_prefix([' ', '\t', '\r', '\n']).unwrap_or(after).strip_prefix('{')?;
    Some(name.len() - open.len() + open.find('}')? + 1)
}

fn array_start(rest: &str) -> Option<usize> {
    let columns = rest.strip_prefix("\\begin{array}{")?;
    let end = columns.bytes().take_while(|b| b"clr".contains(b)).count();
    columns[end..].starts_with('}').then_some("\\begin{array}{".len() + end + 1)
}
