//! A whole plan in one line: how it is said, and how one that was said is read.

use super::act_of;
use super::home::VERBS;

/// Steps of a plan that are read.
pub const MAX_STEPS: usize = 40;

/// The line that says a plan.
pub(super) fn plan_line(acts: &[String]) -> String {
    let step = |act: &String| format!("{} {act}", if act.starts_with("go ") { "n" } else { "m" });
    format!("ok: {}", acts.iter().map(step).collect::<Vec<_>>().join(", "))
}

/// A plan as it was written, step by step, and how well it keeps the form.
pub(super) struct Plan {
    pub(super) acts: Vec<String>,
    /// 0.2 for the response, 0.3 for the share of steps with a tag, 0.5 for the share of acts with a known verb; the last two are halved
    /// where tags and acts differ in number.
    pub(super) rule: f64,
}

impl Plan {
    pub(super) fn read(text: &str) -> Self {
        let text = act_of(text);
        let (response, steps) = match text.split_once(':') {
            Some((said, steps)) if said.trim() == "ok" => (0.2, steps),
            _ => (0.0, text),
        };
        let (mut tags, mut verbs, mut acts) = (0.0, 0.0, Vec::new());
        let steps: Vec<&str> = steps.split(',').take(MAX_STEPS).collect();
        for step in &steps {
            let mut words: Vec<&str> = step.split_whitespace().collect();
            if let Some(&("n" | "m")) = words.first() {
                tags += 1.0;
                words.remove(0);
            }
            if let Some(verb) = words.first() {
                let known = VERBS.contains(verb);
                verbs += if !known {
                    0.0
                } else if words.len() > 1 {
                    1.0
                } else {
                    0.5
                };
                acts.push(words.join(" "));
            }
        }
        let same = if acts.len() as f64 == tags { 1.0 } else { 0.5 };
        let share = |sum: f64, of: usize| if of == 0 { 0.0 } else { sum / of as f64 };
        let rule = response + same * (0.3 * share(tags, steps.len()) + 0.5 * share(verbs, acts.len()));
        Self { acts, rule }
    }

    /// Whether it has a step at all.
    pub(super) fn is_one(&self) -> bool {
        self.acts.iter().any(|act| act.split(' ').next().is_some_and(|verb| VERBS.contains(&verb)))
    }
}
