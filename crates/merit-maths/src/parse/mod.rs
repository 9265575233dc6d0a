//! From text to an [`Expr`]: LaTeX as models and datasets write it, and plain text as people type it.
//!
//! In: a candidate answer without its `$` or `\boxed{}` (both are tolerated). Out: the answer as a tree, or where and why
//! it cannot be read. A tokenizer, then recursive descent, one step of look-ahead and no backtracking, so the work is
//! linear in the text; every token and every level is paid for from the [`Budget`].
//!
//! How the ambiguous is read:
//! - **Commas between digits.** `1,000` (groups of exactly three, the first of one to three digits and not `0`) is a
//!   thousand; inside brackets only if a later group begins with `0`, as in `(1,000)`, else `(12,102)` is a pair. `{,}` and
//!   `,\!` never separate, and beside semicolons, `(0,5; 1,5)`, commas between digits are decimal. Every other comma
//!   separates: `1,2` is a list. That a response may mean a decimal is for the verification to see.
//! - **Products.** Juxtaposition binds tighter than `/`, so `1/2x` is 1/(2x); but after a fraction of two whole numbers a
//!   space ends it: `1/2 x` is half of x. `1\frac{1}{2}` with whole numbers, the fraction proper, is a mixed number.
//! - **Letters.** A run of letters in LaTeX is a product unless it names a function, a constant or a unit after a number, or
//!   looks like a word. `e` and `i` are the constants unless bound by a sum. `f g h F G H` before a bracket are functions;
//!   `p q u v y P Q R S T W` are where the bracket holds one letter, number or list.
//! - **Depth.** A bracket costs four levels of the budget's depth, an argument of a command two: 200 levels allow about
//!   fifty brackets or a hundred roots within one another, and no tree is taller than the limit by much.
//! - **`5!=120`** is a factorial and an equation; `x != 3` is a disequation: what stands directly before decides.

mod answer;
mod atom;
mod bracket;
mod commands;
mod commas;
mod cursor;
mod decimal;
mod environment;
mod error;
mod function;
mod kind;
mod letters;
mod names;
mod number;
mod number_words;
mod numeral_in_base;
mod product;
mod quantified;
mod relation;
mod show;
mod subscript;
mod superscript;
mod tokens;
mod unicode;
mod units;
mod weight;
mod wording;

pub use error::ParseError;
pub(crate) use number_words::number_in_words;
pub(crate) use product::negate;
pub(crate) use units::scale;

use crate::{Budget, Expr};
use cursor::Parser;
use dashu_ratio::RBig;

/// Which conventions a text follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Latex,
    Plain,
}

/// Reads LaTeX.
///
/// ```
/// use merit_maths::{Budget, Limits, parse_latex};
/// let half = parse_latex(r"x = \frac12", &mut Budget::new(Limits::default()))?;
/// assert_eq!(half.to_string(), "x = 1/2");
/// # Ok::<(), merit_maths::ParseError>(())
/// ```
pub fn parse_latex(text: &str, budget: &mut Budget) -> Result<Expr, ParseError> {
    parse(text, Mode::Latex, budget)
}

/// Reads plain text, such as `2*x^2`, `$1,000.99`, `[1, 2)` or `5 km/h`. LaTeX commands are understood here as well.
///
/// ```
/// use merit_maths::{Budget, Limits, parse_plain};
/// let power = parse_plain("2**3", &mut Budget::new(Limits::default()))?;
/// assert_eq!(power.to_string(), "2^3");
/// # Ok::<(), merit_maths::ParseError>(())
/// ```
pub fn parse_plain(text: &str, budget: &mut Budget) -> Result<Expr, ParseError> {
    parse(text, Mode::Plain, budget)
}

fn parse(text: &str, mode: Mode, budget: &mut Budget) -> Result<Expr, ParseError> {
    budget.spend(1)?;
    if let Some(number) = small_integer(text.trim()) {
        return Ok(number);
    }
    if let Some(number) = number_in_words(text) {
        return Ok(Expr::Num(number));
    }
    if text.contains(".m.") {
        let text = text.replace("p.m.", "PM").replace("a.m.", "AM");
        return parse(&text.replace(".m.", " m "), mode, budget);
    }
    if text.is_ascii() {
        return Parser::new(text, text, mode, budget)?.whole(budget);
    }
    let (ascii, places) = unicode::to_latex(text);
    let read = Parser::new(&ascii, text, mode, budget).and_then(|mut parser| parser.whole(budget));
    read.map_err(|error| error.moved(&places))
}

/// The commonest answer by far: up to eighteen digits and perhaps a minus.
fn small_integer(text: &str) -> Option<Expr> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    text.parse::<i64>().ok().map(|value| Expr::Num(RBig::from(value)))
}
