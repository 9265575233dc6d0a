//! `info` is named finite numbers that the policy never sees.

use super::replay::disturbed;
use super::{Found, Subject};
use merit_core::{Info, Message, Task};
use serde_json::Value;
use std::sync::Arc;

/// Reward and info are finite, what is observed is the same for a player that drops the info of every step before, and no observation
/// tells a number of the info by its name, those of a reset among them.
pub(super) fn check_info(subject: &Subject) -> Found {
    subject.some().filter_map(|task| checked(subject, task).err()).collect()
}

fn checked(subject: &Subject, task: &Arc<Task>) -> Result<(), String> {
    let text = |error: crate::EnvError| format!("task {}: {error}", task.id);
    let steps = disturbed(subject, task)?;
    let mut env = subject.world.open(task, &subject.seed, None).map_err(text)?;
    let opening = env.reset().map_err(text)?;
    // The first step is garbage, which changes nothing: its info is true of the start.
    if let Some(name) = steps.first().and_then(|first| told(&first.result.info, &opening)) {
        return Err(format!("task {}: what a reset shows tells the info `{name}`", task.id));
    }
    for (turn, step) in steps.iter().enumerate() {
        if let Some(name) = step.result.wild_number() {
            return Err(format!("task {}, turn {turn}: `{name}` is not finite", task.id));
        }
        let again = env.step(&step.action, &step.calls).map_err(text)?;
        if again.observations != step.result.observations {
            return Err(format!("task {}, turn {turn} is observed otherwise when it is repeated", task.id));
        }
        if let Some(name) = told(&step.result.info, &again.observations) {
            return Err(format!("task {}, turn {turn}: an observation tells the info `{name}`", task.id));
        }
        // From here on only the snapshot is left: nothing remembers the info.
        let state: Value = env.snapshot();
        env = subject.world.open(task, &subject.seed, Some(&state)).map_err(text)?;
    }
    Ok(())
}

/// The name of a number that an observation tells: `progress: 0.5`, `progress=0.5`, `progress 0.5`.
fn told<'a>(info: &'a Info, observations: &[Message]) -> Option<&'a str> {
    let tells = |name: &str, value: f64, text: &str| {
        text.match_indices(name).any(|(at, _)| {
            let rest = text.get(at + name.len()..).unwrap_or_default();
            let number = rest.trim_start_matches([' ', ':', '=', '"', '\'']);
            number.len() < rest.len() && leading_number(number) == Some(value)
        })
    };
    let shown = |(name, value): &(&str, &f64)| observations.iter().any(|m| tells(name, **value, &m.text));
    info.iter().find(shown).map(|(name, _)| name)
}

fn leading_number(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-'))).unwrap_or(text.len());
    text.get(..end)?.trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use merit_core::Role;

    #[test]
    fn a_number_told_by_its_name_is_found_and_a_number_alone_is_not() {
        let info = Info::from([("progress", 0.5), ("steps", 3.0)]);
        let told = |text: &str| told(&info, &[Message::new(Role::Environment, text)]).map(str::to_owned);
        assert_eq!(told("progress: 0.5"), Some("progress".to_owned()));
        assert_eq!(told("{\"steps\": 3}"), Some("steps".to_owned()));
        assert_eq!(told("note 3, make progress in 5 steps"), None);
        assert_eq!(told("progress"), None);
    }
}
