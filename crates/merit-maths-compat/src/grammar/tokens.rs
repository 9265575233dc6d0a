//! The tokens of the grammar that Math-Verify parses LaTeX with.

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Colon,
    Open(Bracket),
    /// A closing bracket.
    Close(Bracket),
    Phantom,
    Boxed,
    Bar,
    LVert,
    RVert,
    Vert,
    Norm,
    LFloor,
    RFloor,
    LCeil,
    RCeil,
    Lim,
    Approach,
    Int,
    Sum,
    Prod,
    /// A named function of one argument: `\sin`.
    Function,
    /// A named function of several arguments: `\max`.
    Functions,
    Gamma,
    /// A bare word that only `\operatorname` may hold.
    Name,
    Sqrt,
    Frac,
    Binom,
    Choose,
    Operatorname,
    MatrixStart,
    MatrixEnd,
    ArrayStart,
    ArrayEnd,
    DetStart,
    DetEnd,
    Column,
    Row,
    Underscore,
    Caret,
    Semicolon,
    Comma,
    Differential,
    ExpE,
    BigE,
    Letter,
    Number,
    Scientific,
    Percent,
    In,
    NotIn,
    Assign,
    Equal,
    Approx,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Unequal,
    Bang,
    Transpose,
    Degree,
    Greek,
    OtherSymbol,
    Infinity,
    Accent,
    Naturals,
    Integers,
    Rationals,
    Reals,
    Complexes,
    EmptySet,
    Union,
    Intersection,
    SetMinus,
    PlusMinus,
    Subset,
    Superset,
    /// Known to the lexer, used by no rule.
    Stray,
    /// Skipped.
    Space,
}

/// Kinds of brackets, matched by the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Paren,
    ParenVisual,
    Group,
    Brace,
    BraceVisual,
    BraceCommand,
    Square,
    SquareCommand,
    Angle,
}

use Bracket::{Angle, Brace, BraceCommand, BraceVisual, Group, Paren, ParenVisual, Square, SquareCommand};
use Token::*;

/// Tokens with one spelling each, or a few. The longest that fits wins; of two equally long ones the first.
pub(super) const LITERALS: &[(Token, &str)] = &[
    (Transpose, "^T ^{T} ^{\\\\top} '"),
    (Degree, "^\\circ ^\\degree ^\\circle ^° ^{\\circ} ^{\\degree} ^{\\circle} ^{°}"),
    (
        Space,
        "\\, \\thinspace \\: \\medspace \\; \\thickspace \\quad \\qquad \\! \\negthinspace \\negmedspace \\negthickspace \\$ \
         \\vrule \\vcenter \\vbox \\vskip \\vspace \\hfil",
    ),
    (Add, "+ ∔ ⊕ ⊞"),
    (Sub, "- − ∸"),
    (Mul, "* × ⋅ ⋄ ⊡ ∗ ⋆ ∘ ∙ ⊗ ⊠ ⋈ ⋉ ⋊ \\times \\cdot"),
    (Div, "/ ÷ ∕ \\over \\div"),
    (Open(Paren), "("),
    (Close(Paren), ")"),
    (Open(ParenVisual), "\\("),
    (Close(ParenVisual), "\\)"),
    (Open(Group), "\\lgroup"),
    (Close(Group), "\\rgroup"),
    (Open(Brace), "{"),
    (Close(Brace), "}"),
    (Open(BraceVisual), "\\{"),
    (Close(BraceVisual), "\\}"),
    (Open(BraceCommand), "\\lbrace"),
    (Close(BraceCommand), "\\rbrace"),
    (Open(Square), "["),
    (Close(Square), "]"),
    (Open(SquareCommand), "\\lbrack"),
    (Close(SquareCommand), "\\rbrack"),
    (Open(Angle), "\\langle"),
    (Close(Angle), "\\rangle"),
    (Phantom, "\\phantom"),
    (Boxed, "\\boxed"),
    (Bar, "|"),
    (LVert, "\\lvert"),
    (RVert, "\\rvert"),
    (Vert, "\\vert"),
    (Norm, "\\|"),
    (LFloor, "\\lfloor \\llcorner"),
    (RFloor, "\\rfloor \\lrcorner"),
    (LCeil, "\\lceil \\ulcorner"),
    (RCeil, "\\rceil \\urcorner"),
    (Lim, "\\lim"),
    (Approach, "\\to \\rightarrow \\Rightarrow \\longrightarrow \\Longrightarrow"),
    (Int, "\\int"),
    (Sum, "\\sum"),
    (Prod, "\\prod"),
    (
        Function,
        "\\log \\ln \\exp \\sin \\cos \\tan \\csc \\sec \\cot \\arcsin \\arccos \\arctan \\arccsc \\arcsec \\arccot \\sinh \
         \\cosh \\tanh \\arsinh \\arcosh \\artanh \\arcsinh \\arccosh \\arctanh \\floor \\ceil \\det",
    ),
    (Gamma, "\\Gamma \\gamma"),
    (Functions, "\\gcd \\lcm \\max \\min"),
    (
        Name,
        "arsinh arcsinh arcosh arccosh artanh arctanh gcd lcm floor ceil eye zeros ones cols rows diag norm rank trace tr \
         rref hstack vstack orth ortho orthogonal orthogonalize nullspace eig eigen diagonalize eigenvals eigenvalues \
         eigenvects eigenvectors svd SVD",
    ),
    (Sqrt, "\\sqrt"),
    (Frac, "\\frac \\dfrac \\tfrac \\cfrac"),
    (Binom, "\\binom \\tbinom \\dbinom"),
    (Choose, "\\choose"),
    (Mod, "\\mod"),
    (Operatorname, "\\operatorname"),
    (
        Stray,
        "\\mathit matrix pmatrix bmatrix vmatrix . \\xrightarrow \\xRightarrow <-> <=> \\leftrightarrow \\Leftrightarrow",
    ),
    (MatrixStart, "\\begin{matrix} \\begin{pmatrix} \\begin{bmatrix}"),
    (MatrixEnd, "\\end{matrix} \\end{pmatrix} \\end{bmatrix}"),
    (ArrayEnd, "\\end{array}"),
    (DetStart, "\\begin{vmatrix}"),
    (DetEnd, "\\end{vmatrix}"),
    (Column, "&"),
    (Row, "\\\\"),
    (Underscore, "_"),
    (Caret, "^"),
    (Colon, ":"),
    (Semicolon, ";"),
    (Comma, ","),
    (ExpE, "e \\exponentialE"),
    (BigE, "E"),
    (In, "\\in"),
    (Assign, "= ≡ ≣ ≟ ≎ ≏ ≐ ≑ ≒ ≓ ≔ ≕ ≖ ≗"),
    (Equal, "== \\equiv"),
    (Approx, "~= ≈ ≊ ≋ ≃ ≅ \\approx"),
    (Less, "< ≪ ≺ ⋖ \\lt"),
    (LessEqual, "\\leq \\le \\leqslant ≤ ≦ ≲ ≾ <="),
    (Greater, "> ≫ ≻ ⋗ \\gt"),
    (GreaterEqual, "\\geq \\ge \\geqslant ≥ ≧ ≳ ≿ >="),
    (Unequal, "!= !== \\ne \\neq \\not\\equiv ≠ ≁ ≄ ≇ ≉ ≢"),
    (Bang, "!"),
    (Infinity, "\\infty \\infty\\% \\infty% \\$\\infty"),
    (Stray, "\\partial"),
    (Naturals, "\\mathbb{N} ℕ"),
    (Integers, "\\mathbb{Z} ℤ"),
    (Rationals, "\\mathbb{Q} ℚ"),
    (Reals, "\\mathbb{R} ℝ"),
    (Complexes, "\\mathbb{C} ℂ"),
    (Stray, "\\mathbb{P} ℙ"),
    (Union, "\\cup ∪"),
    (Intersection, "\\cap ∩"),
    (SetMinus, "\\setminus ∖"),
    (PlusMinus, "\\pm ± ∓ \\mp"),
    (EmptySet, "\\emptyset ∅ \\{\\} \\lbrace\\rbrace"),
    (Superset, "\\supseteq ⊇"),
    (Subset, "\\subseteq ⊆"),
    (NotIn, "\\notin ∉"),
];

/// Greek letters by name; each may be followed by one space that belongs to it.
pub(super) const GREEK: &str = "alpha α beta β gamma γ Gamma Γ delta δ Delta Δ epsilon ε varepsilon ϵ zeta ζ eta η theta θ Theta Θ \
vartheta ϑ iota ι kappa κ lambda λ Lambda Λ mu μ nu ν xi ξ Xi Ξ omicron ο pi π Pi Π varpi ϖ rho ρ varrho ϱ sigma σ Sigma Σ \
varsigma ς tau τ upsilon υ Upsilon Υ phi φ Phi Φ varphi ϕ chi χ psi ψ Psi Ψ omega ω Omega Ω";

/// Other commands that stand for a symbol.
pub(super) const SYMBOLS: &str = "Bbbk wp nabla bigstar angle nexists diagdown measuredangle eth diagup sphericalangle clubsuit \
varnothing Diamond complement diamondsuit imath Finv triangledown heartsuit jmath Game triangle spadesuit ell hbar vartriangle \
hslash blacklozenge lozenge blacksquare mho blacktriangle sharp prime Im flat square backprime Re natural surd circledS";

/// Commands that dress a text in braces.
pub(super) const ACCENTS: &str = "acute bar overline breve check widecheck dot ddot grave hat tilde widetilde vec overrightarrow bm \
boldsymbol text textit textbf textnormal mathbb mathbin mathbf mathcal mathclap mathclose mathellipsis mathfrak mathinner \
mathit mathnormal mathop mathopen mathord mathpunct mathrel mathring mathrlap mathrm mathscr mathsf mathsterling mathtt mbox";
