//! Characters beyond ASCII, rewritten as the LaTeX they stand for, so that the tokenizer sees one way of writing.

/// The text with every known character replaced, and for each of its bytes the offset it came from.
pub(super) fn to_latex(text: &str) -> (String, Vec<u32>) {
    let mut out = String::with_capacity(text.len() + 16);
    let mut places = Vec::with_capacity(text.len() + 16);
    let mut raised = false;
    for (at, c) in text.char_indices() {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let superscript = superscript(c);
        match (raised, superscript.is_some()) {
            (false, true) => out.push_str("^{"),
            (true, false) => out.push('}'),
            _ => {}
        }
        raised = superscript.is_some();
        match superscript.or_else(|| plain(c)) {
            Some(plain) => out.push(plain),
            None => match command(c) {
                Some(latex) => out.push_str(latex),
                None => out.push(c),
            },
        }
        places.resize(out.len(), at);
    }
    if raised {
        out.push('}');
    }
    (out, places)
}

fn superscript(c: char) -> Option<char> {
    Some(match c {
        '⁰' => '0',
        '¹' => '1',
        '²' => '2',
        '³' => '3',
        '⁴'..='⁹' => char::from_digit(u32::from(c) - u32::from('⁰'), 10)?,
        '⁺' => '+',
        '⁻' => '-',
        '⁽' => '(',
        '⁾' => ')',
        'ⁿ' => 'n',
        'ˣ' => 'x',
        _ => return None,
    })
}

/// One character for one character: look-alikes of ASCII.
fn plain(c: char) -> Option<char> {
    Some(match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0)?,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{1d7ce}'..='\u{1d7ff}' => char::from_digit((u32::from(c) - 0x1d7ce) % 10, 10)?,
        '−' | '–' | '—' | '‐' | '‑' | '‒' | '﹣' => '-',
        '∗' | '·' | '⋅' | '×' | '✕' | '∙' | '•' => '*',
        '÷' | '⁄' | '∕' => '/',
        '∶' | '︰' => ':',
        '、' => ',',
        '。' | '․' => '.',
        '′' | '’' => '\'',
        '∣' => '|',
        '⟨' | '〈' | '【' | '〔' => '(',
        '⟩' | '〉' | '】' | '〕' => ')',
        '“' | '”' | '‘' => ' ',
        'ℓ' => 'l',
        'ℯ' | 'ⅇ' => 'e',
        'ⅈ' => 'i',
        '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{2060}' => ' ',
        _ => return None,
    })
}

fn command(c: char) -> Option<&'static str> {
    Some(match c {
        '±' => "\\pm ",
        '∓' => "\\mp ",
        '≤' | '⩽' | '≦' => "\\le ",
        '≥' | '⩾' | '≧' => "\\ge ",
        '≠' => "\\ne ",
        '≈' | '≃' => "\\approx ",
        '≡' => "\\equiv ",
        '∼' => "\\sim ",
        '≅' => "\\cong ",
        '∝' => "\\propto ",
        '∥' => "\\parallel ",
        '⊥' => "\\perp ",
        '∈' => "\\in ",
        '∉' => "\\notin ",
        '⊂' | '⊆' => "\\subset ",
        '∪' => "\\cup ",
        '∩' => "\\cap ",
        '∖' => "\\setminus ",
        '∅' | 'Ø' => "\\emptyset ",
        '→' => "\\to ",
        '⇒' => "\\implies ",
        '⇔' => "\\iff ",
        '∧' => "\\land ",
        '∨' => "\\lor ",
        '∞' => "\\infty ",
        '√' => "\\sqrt ",
        '∛' => "\\sqrt[3]",
        '∜' => "\\sqrt[4]",
        '∑' => "\\sum ",
        '∏' => "\\prod ",
        '∫' => "\\int ",
        '∂' => "\\partial ",
        '∇' => "\\nabla ",
        '∠' => "\\angle ",
        '△' => "\\triangle ",
        '°' | 'º' => "^\\circ ",
        '…' | '⋯' => "\\dots ",
        '⌊' => "\\lfloor ",
        '⌋' => "\\rfloor ",
        '⌈' => "\\lceil ",
        '⌉' => "\\rceil ",
        'ℝ' => "\\R ",
        'ℚ' => "\\Q ",
        'ℤ' => "\\Z ",
        'ℕ' => "\\N ",
        'ℂ' => "\\C ",
        '€' => "\\euro ",
        '£' => "\\pounds ",
        '¥' => "\\yen ",
        '‖' => "\\Vert ",
        _ => return fraction(c).or_else(|| subscript(c)).or_else(|| greek(c)),
    })
}

fn fraction(c: char) -> Option<&'static str> {
    Some(match c {
        '½' => "\\frac{1}{2}",
        '⅓' => "\\frac{1}{3}",
        '⅔' => "\\frac{2}{3}",
        '¼' => "\\frac{1}{4}",
        '¾' => "\\frac{3}{4}",
        '⅕' => "\\frac{1}{5}",
        '⅖' => "\\frac{2}{5}",
        '⅗' => "\\frac{3}{5}",
        '⅘' => "\\frac{4}{5}",
        '⅙' => "\\frac{1}{6}",
        '⅚' => "\\frac{5}{6}",
        '⅛' => "\\frac{1}{8}",
        '⅜' => "\\frac{3}{8}",
        '⅝' => "\\frac{5}{8}",
        '⅞' => "\\frac{7}{8}",
        _ => return None,
    })
}

fn subscript(c: char) -> Option<&'static str> {
    const DIGITS: [&str; 10] = ["_0", "_1", "_2", "_3", "_4", "_5", "_6", "_7", "_8", "_9"];
    match c {
        '₀'..='₉' => DIGITS.get((u32::from(c) - u32::from('₀')) as usize).copied(),
        'ₙ' => Some("_n"),
        'ₖ' => Some("_k"),
        _ => None,
    }
}

fn greek(c: char) -> Option<&'static str> {
    Some(match c {
        'α' => "\\alpha ",
        'β' => "\\beta ",
        'γ' => "\\gamma ",
        'δ' => "\\delta ",
        'ε' | 'ϵ' => "\\epsilon ",
        'ζ' => "\\zeta ",
        'η' => "\\eta ",
        'θ' | 'ϑ' => "\\theta ",
        'ι' => "\\iota ",
        'κ' => "\\kappa ",
        'λ' => "\\lambda ",
        'μ' | 'µ' => "\\mu ",
        'ν' => "\\nu ",
        'ξ' => "\\xi ",
        'π' | '𝜋' => "\\pi ",
        'ρ' => "\\rho ",
        'σ' | 'ς' => "\\sigma ",
        'τ' => "\\tau ",
        'φ' | 'ϕ' => "\\phi ",
        'χ' => "\\chi ",
        'ψ' => "\\psi ",
        'ω' => "\\omega ",
        'Γ' => "\\Gamma ",
        'Δ' | '∆' => "\\Delta ",
        'Θ' => "\\Theta ",
        'Λ' => "\\Lambda ",
        'Ξ' => "\\Xi ",
        'Σ' => "\\Sigma ",
        'Φ' => "\\Phi ",
        'Ψ' => "\\Psi ",
        'Ω' => "\\Omega ",
        _ => return None,
    })
}
