//! What a token can be. Commands and signs that mean the same have one kind: `*`, `\times` and `\cdot` are `Times`.

use crate::{Constant, Function, Relation};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Paren,
    Square,
    /// `\{`, or a plain brace in plain text.
    Brace,
    /// `{` in LaTeX.
    Group,
    /// The group of a box or another styling command: only looks, so that commas inside list and make no set.
    Styled,
    Angle,
    Floor,
    Ceiling,
    /// `\left|`, `\lvert`: a bar that says which side it is.
    Bar,
    /// `\left\|`, `\lVert`.
    DoubleBar,
}

/// Big operators with limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Big {
    Sum,
    Product,
    Integral,
    Limit,
    Union,
    Intersection,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    End,
    Digits,
    /// A run of letters.
    Word,
    Dot,
    Comma,
    /// `{,}` or `,\!`: a comma that never separates.
    InnerComma,
    Semicolon,
    Colon,
    Plus,
    Minus,
    PlusMinus,
    MinusPlus,
    Times,
    Slash,
    Caret,
    Underscore,
    Bang,
    Percent,
    Prime,
    Bar,
    DoubleBar,
    Open(Bracket),
    Close(Bracket),
    Rel(Relation),
    /// `\not`, which turns the relation after it.
    Not,
    And,
    Or,
    Union,
    Intersection,
    SetMinus,
    Mod,
    ModWithBase,
    Degree,
    Frac,
    Binom,
    /// `{a \over b}`
    Over,
    /// `{a \choose b}`
    Choose,
    Sqrt,
    Fun(Function),
    /// A named letter such as `\alpha`, by its name.
    Letter(&'static str),
    Const(Constant),
    EmptySet,
    /// A blackboard set, by its letter.
    Named(&'static str),
    Dots,
    Big(Big),
    /// `\text{…}`; the token spans the inside.
    Text,
    /// `\mathrm{…}`, `\operatorname{…}`; the token spans the inside.
    Roman,
    /// `\mathbb{…}`; the token spans the inside.
    Blackboard,
    /// `\vec`, `\hat`, `\bar`: a mark upon a letter.
    Mark(&'static str),
    /// `\overline`: a repeating decimal, a conjugate, or a mark.
    Overline,
    Transpose,
    Currency(&'static str),
    /// `\begin{…}`; the token spans the name.
    Begin,
    /// `\end{…}`; the token spans the name.
    EndOf,
    Ampersand,
    RowBreak,
    /// An unknown command; the token spans its name with the backslash.
    Unknown,
    // What the tokenizer itself consumes, and never hands on.
    Space,
    /// A command that changes only the looks of the group after it: `\boxed`, `\mathbf`.
    Style,
    /// `\!`, which closes the gap as well.
    NegativeSpace,
    Left,
    Right,
    TextCommand,
    RomanCommand,
    BlackboardCommand,
    /// `\quad \phantom{…}` and others whose group is dropped with them.
    Dropped,
}

/// A token: what, where in the text, and whether white space stands before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) gap: bool,
}
