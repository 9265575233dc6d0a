//! The probes, grouped by what they abuse. Each is a plain function from a task to attempts.

use crate::subject::{Attempt, Subject};
use merit_core::About;

/// Declares the modules and lists what stands in them: a new probe is its file, and one line here.
macro_rules! probes {
    ($($module:ident: $($PROBE:ident),+;)+) => {
        $( mod $module; )+

        /// Every probe that comes with merit, in the order of the audit's table.
        pub static PROBES: &[crate::ProbeEntry] = &[$($( crate::probe!($module::$PROBE) ),+),+];
    };
}

probes! {
    gold: GOLD, GOLD_SPACED;
    nothing: DO_NOTHING, EMPTY, WHITE_SPACE;
    junk: JUNK, CONSTANT, NULLS;
    echo: ECHO, RESTATE, UNEVALUATED;
    rewritten: REWRITTEN, WORD_ARITHMETIC;
    several: EVERY_ANSWER, GOLD_AMONG_MANY, HEDGE;
    format_only: FORMAT_ONLY, EMPTY_BOX, EMPTY_JSON;
    tricks: UNITS, ORDER, NEAR_MISS, NUMBERS_IN_DISGUISE;
    unicode: LOOK_ALIKES, INVISIBLE;
    injection: JUDGE_INJECTION, TOOL_MARKERS, TAMPER;
    code: ANNUL, NO_WORK;
    queries: CONSTANT_QUERY;
    long: OVER_LONG, NESTED, BONUS_FARM;
}

/// What a probe says of itself.
const fn about(name: &'static str, summary: &'static str) -> About {
    About { name, summary, paper: "" }
}

/// Answers that have nothing to do with the right one: texts in which it stands by chance are left out.
fn unrelated(task: usize, subject: &Subject, texts: &[&str]) -> Vec<Attempt> {
    let texts = texts.iter().filter(|text| !subject.names_gold(text));
    texts.map(|text| Attempt::answer(task, *text)).collect()
}
