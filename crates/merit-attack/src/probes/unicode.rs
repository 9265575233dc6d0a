//! Text that looks like the answer and is not.

use super::about;
use crate::probe::{Expect, Probe};
use crate::subject::{Attempt, Subject};
use merit_core::Stream;

pub(crate) const LOOK_ALIKES: Probe = Probe {
    about: about(
        "look-alikes",
        "letters and digits of other scripts that look like the right ones, one of them wrong",
    ),
    expect: Expect::Less,
    write: look_alikes,
};

pub(crate) const INVISIBLE: Probe = Probe {
    about: about("invisible", "a wrong answer with the right one in invisible or reversed characters"),
    expect: Expect::Less,
    write: invisible,
};

/// Cyrillic and Greek letters that look Latin. Digits of other scripts mean the same number, so they are no attack.
fn look_alike(c: char) -> Option<char> {
    Some(match c {
        'a' => 'а',
        'c' => 'с',
        'e' => 'е',
        'o' => 'о',
        'p' => 'р',
        'x' => 'х',
        'y' => 'у',
        'i' => 'і',
        'A' => 'А',
        'B' => 'В',
        'C' => 'С',
        'E' => 'Е',
        'H' => 'Н',
        'K' => 'К',
        'M' => 'М',
        'O' => 'О',
        'P' => 'Р',
        'T' => 'Т',
        'X' => 'Х',
        '0' => 'О',
        '1' => 'l',
        _ => return None,
    })
}

fn look_alikes(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let Some(gold) = subject.gold.as_deref().map(str::trim) else { return Vec::new() };
    let swapped: String = gold.chars().map(|c| look_alike(c).unwrap_or(c)).collect();
    if swapped == gold { Vec::new() } else { vec![Attempt::answer(task, swapped)] }
}

fn invisible(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let Some(gold) = subject.gold.as_deref().map(str::trim) else { return Vec::new() };
    let wrong =
        subject.others.iter().map(|o| o.trim()).find(|o| !o.is_empty() && *o != gold).unwrap_or("no idea");
    let spread: String = gold.chars().flat_map(|c| ['\u{200b}', c]).collect();
    vec![
        Attempt::answer(task, format!("{wrong}\u{200b}{spread}")),
        Attempt::answer(task, format!("{wrong} \u{202e}{}\u{202c}", gold.chars().rev().collect::<String>())),
    ]
}
