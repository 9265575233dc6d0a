//! Operators written loosely (`\frac12`, `\sqrt3`, `x^(2)`, `a/b`) put into the form the grammar knows, mistakes included.

/// All repairs, in Math-Verify's order.
pub(super) fn repair(text: &str) -> String {
    let text = bracketed(text, "^", "^");
    let text = bracketed(&text, "sqrt", "\\sqrt");
    let text = two_numbers(&text, "\\frac", "\\frac{");
    let text = two_numbers(&text, "\\log_", "\\log_{");
    let text = braced_then_digit(&text);
    let text = digit_then_braced(&text);
    let text = sqrt_digit(&text);
    let text = text.replace(" sqrt", "\\sqrt");
    let text = fix_sqrt(&text);
    let text = fix_fracs(&text);
    fix_slash(&text).unwrap_or(text)
}

/// Copies `text`; after each `word`, `after` sees the rest and may say what to write instead of word and rest, and how much of
/// the rest that covers. Nothing else matches once `after` asks to stop.
fn each(text: &str, word: &str, after: impl Fn(&str) -> Step) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (head, tail) = rest.split_at(at + word.len());
        match after(tail) {
            Step::Write(new, length) => {
                out.push_str(&head[..at]);
                out.push_str(&new);
                rest = &tail[length..];
            }
            Step::Leave => {
                out.push_str(head);
                rest = tail;
            }
            Step::Stop => break,
        }
    }
    out.push_str(rest);
    out
}

enum Step {
    Write(String, usize),
    Leave,
    Stop,
}

/// The text without one leading white space.
fn one_space(text: &str) -> &str {
    text.strip_prefix(|c: char| c.is_whitespace()).unwrap_or(text)
}

/// The first digit and what follows it.
fn digit(text: &str) -> Option<(char, &str)> {
    let first = text.chars().next().filter(char::is_ascii_digit)?;
    Some((first, &text[1..]))
}

/// `^(…)` and `sqrt(…)`.
fn bracketed(text: &str, word: &str, new: &str) -> String {
    each(text, word, |rest| {
        let Some(inside) = one_space(rest).strip_prefix('(') else { return Step::Leave };
        match inside.find(')') {
            Some(end) => {
                let length = rest.len() - inside.len() + end + 1;
                Step::Write(format!("{new}{{{}}}", &inside[..end]), length)
            }
            None => Step::Stop,
        }
    })
}

/// `\frac12`, `\log_23`: a digit, then a number.
fn two_numbers(text: &str, word: &str, new: &str) -> String {
    each(text, word, |rest| {
        let Some((first, after)) = digit(one_space(rest)) else { return Step::Leave };
        let number = one_space(after);
        let end = number.bytes().take_while(u8::is_ascii_digit).count();
        if end == 0 {
            return Step::Leave;
        }
        Step::Write(format!("{new}{first}}}{{{}}}", &number[..end]), rest.len() - number.len() + end)
    })
}

/// `\frac{…}2`: up to the first closing brace that a digit follows.
fn braced_then_digit(text: &str) -> String {
    let mut closers = Vec::new();
    for (at, _) in text.match_indices('}') {
        if let Some((_, after)) = digit(one_space(&text[at + 1..])) {
            closers.push((at, text.len() - after.len()));
        }
    }
    if closers.is_empty() {
        return text.to_owned();
    }
    each(text, "\\frac", |rest| {
        let Some(inside) = one_space(rest).strip_prefix('{') else { return Step::Leave };
        let from = text.len() - inside.len();
        let next = closers.partition_point(|(at, _)| *at < from);
        match closers.get(next) {
            Some(&(close, end)) => {
                let new = format!("\\frac{{{}}}{{{}}}", &text[from..close], &text[end - 1..end]);
                Step::Write(new, rest.len() - (text.len() - end))
            }
            None => Step::Stop,
        }
    })
}

/// `\frac1{…}`.
fn digit_then_braced(text: &str) -> String {
    each(text, "\\frac", |rest| {
        let Some((first, after)) = digit(one_space(rest)) else { return Step::Leave };
        let Some(inside) = one_space(after).strip_prefix('{') else { return Step::Leave };
        match inside.find('}') {
            Some(end) => {
                let new = format!("\\frac{{{first}}}{{{}}}", &inside[..end]);
                Step::Write(new, rest.len() - inside.len() + end + 1)
            }
            None => Step::Stop,
        }
    })
}

fn sqrt_digit(text: &str) -> String {
    each(text, "\\sqrt", |rest| match digit(one_space(rest)) {
        Some((first, after)) => Step::Write(format!("\\sqrt{{{first}}}"), rest.len() - after.len()),
        None => Step::Leave,
    })
}

/// `\sqrt` takes the next character, unless that opens a brace or bracket.
fn fix_sqrt(text: &str) -> String {
    let mut parts = text.split("\\sqrt");
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let part = part.trim_start();
        out.push_str("\\sqrt");
        match part.chars().next() {
            Some(first) if first != '{' && first != '[' => {
                out.push('{');
                out.push(first);
                out.push('}');
                out.push_str(&part[first.len_utf8()..]);
            }
            _ => out.push_str(part),
        }
    }
    out
}

/// `\frac` takes the next two characters, unless the first opens a brace.
fn fix_fracs(text: &str) -> String {
    let mut parts = text.split("\\frac");
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let part = part.trim_start();
        out.push_str("\\frac");
        if part.starts_with('{') {
            out.push_str(part);
            continue;
        }
        let mut chars = part.chars();
        let (Some(a), Some(b)) = (chars.next(), chars.next()) else { return text.to_owned() };
        out.push_str(&if b == '{' { format!("{{{a}}}{b}") } else { format!("{{{a}}}{{{b}}}") });
        out.push_str(chars.as_str());
    }
    out
}

/// Two plain integers around one stroke are a fraction.
fn fix_slash(text: &str) -> Option<String> {
    let (a, b) = text.split_once('/')?;
    let plain = |n: &str| {
        let digits = n.strip_prefix('-').unwrap_or(n);
        let bare = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
        bare && (digits == "0" || !digits.starts_with('0')) && n != "-0"
    };
    (plain(a) && plain(b)).then(|| format!("\\frac{{{a}}}{{{b}}}"))
}
