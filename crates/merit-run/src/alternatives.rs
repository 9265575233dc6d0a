//! What could stand in the place of a component that cannot work: those that the recipe may name and that declare what is wanted.

use crate::recipe::Recipe;
use merit_core::registry::{Entry, Kind};
use merit_credit::CreditRule;
use merit_learn::Objective;
use merit_reward::RewardConfig;

/// The credit rules of which something holds.
pub(crate) fn credit_rules(recipe: &Recipe, holds: impl Fn(&dyn CreditRule) -> bool) -> String {
    those::<dyn CreditRule>(recipe, |rule| holds(rule))
}

/// The objectives of which something holds.
pub(crate) fn objectives(recipe: &Recipe, holds: impl Fn(&dyn Objective) -> bool) -> String {
    those::<dyn Objective>(recipe, |objective| holds(objective))
}

/// The reward terms that say when a task is solved.
pub(crate) fn solving_terms(recipe: &Recipe) -> String {
    quoted(RewardConfig::solving_terms(&recipe.components))
}

/// The components of a kind of which something holds with their defaults or, where they have none, as in their example.
fn those<T: Kind + ?Sized>(recipe: &Recipe, holds: impl Fn(&T) -> bool) -> String {
    let example = |entry: &Entry<T>| toml::from_str(entry.example).unwrap_or_default();
    let found = |entry: &&Entry<T>| {
        let read = (entry.read)(toml::Table::new()).or_else(|_| (entry.read)(example(entry)));
        read.is_ok_and(|(component, _)| holds(&component))
    };
    recipe.components.reading(|| {
        quoted(recipe.components.entries::<T>().iter().filter(found).map(|entry| entry.about.name))
    })
}

/// The names in quotes, with an `or` before the last.
fn quoted(names: impl IntoIterator<Item = &'static str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        Some((last, _)) => last.clone(),
        None => "one that you add".to_owned(),
    }
}
