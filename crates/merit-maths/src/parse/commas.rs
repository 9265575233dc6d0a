//! Beside semicolons a comma between digits is decimal: `(0,5; 1,5)`. One pass over the tokens settles which commas these
//! are, bracket by bracket.

use super::kind::{Bracket, Kind, Token};

/// Turns such commas into inner ones.
pub(super) fn settle(tokens: &mut [Token]) {
    if !tokens.iter().any(|token| token.kind == Kind::Semicolon) {
        return;
    }
    // For each open bracket, whether it has a semicolon, and the commas between digits seen in it.
    let mut open: Vec<(bool, Vec<usize>)> = vec![(false, Vec::new())];
    for at in 0..tokens.len() {
        let Some(&token) = tokens.get(at) else { break };
        match token.kind {
            Kind::Open(bracket) if !matches!(bracket, Bracket::Group | Bracket::Styled) => {
                open.push((false, Vec::new()))
            }
            Kind::Close(bracket)
                if !matches!(bracket, Bracket::Group | Bracket::Styled) && open.len() > 1 =>
            {
                close(open.pop(), tokens)
            }
            Kind::Semicolon => {
                if let Some(innermost) = open.last_mut() {
                    innermost.0 = true;
                }
            }
            Kind::Comma if between_digits(tokens, at) => {
                if let Some(innermost) = open.last_mut() {
                    innermost.1.push(at);
                }
            }
            _ => {}
        }
    }
    for level in open {
        close(Some(level), tokens);
    }
}

fn close(level: Option<(bool, Vec<usize>)>, tokens: &mut [Token]) {
    if let Some((true, commas)) = level {
        for at in commas {
            if let Some(token) = tokens.get_mut(at) {
                token.kind = Kind::InnerComma;
            }
        }
    }
}

fn between_digits(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    let after = tokens.get(at + 1);
    before.is_some_and(|t| t.kind == Kind::Digits)
        && after.is_some_and(|t| t.kind == Kind::Digits && !t.gap)
        && tokens.get(at).is_some_and(|t| !t.gap)
}
