//! Credit rules and objectives that cannot work with the rest of a recipe.

use crate::recipe::Recipe;
use crate::stage_checks::hint;
use merit_credit::{AnnotationNeed, CreditRule, Differs, RULES};
use merit_learn::{Average, Scope};
use merit_reward::RewardConfig;
use merit_reward::combinators::shaping::{Shaping, ShapingStep};

pub(crate) fn group_size(recipe: &Recipe) -> Result<(), String> {
    let rule = &*recipe.credit;
    let name = recipe.credit.about().name;
    if compares(rule) && recipe.budget.group_size < 2 {
        return Err(format!(
            "credit rule `{name}` compares the members of a group, but `budget.group_size` is 1; \
             raise it, or use one that compares otherwise: {}",
            rules(|rule| !compares(rule))
        ));
    }
    let objective = recipe.learn.objective.about().name;
    let compared =
        recipe.learn.objective.scope() != Scope::Sequence || recipe.learn.objective.needs().group_reward;
    if compared && recipe.budget.group_size < 2 {
        return Err(format!(
            "objective `{objective}` compares the members of a group, but `budget.group_size` is 1; raise it"
        ));
    }
    Ok(())
}

pub(crate) fn credit(recipe: &Recipe) -> Result<(), String> {
    let rule = &*recipe.credit;
    let name = recipe.credit.about().name;
    let needs = recipe.learn.objective.needs();
    let objective = recipe.learn.objective.about().name;
    if !needs.reads_outcome() {
        return Err(format!(
            "`learn.objective = {objective}` ignores the reward; warm starts are supervised by `[warm_start]`, \
             and learning by reward needs an objective that reads it, such as `policy-gradient`"
        ));
    }
    shaping(recipe, name, rule.discount())?;
    let wants_values = rule.needs().values;
    let fits_values = needs.returns;
    match (wants_values, fits_values) {
        (true, _) if !recipe.model.value_head() => {
            Err(format!("credit rule `{name}` needs value estimates; set `model.value_head = true`"))
        }
        (true, false) => Err(format!(
            "credit rule `{name}` needs a fitted value head; give `learn.objective` a `value = {{ coefficient = 0.5 }}`"
        )),
        (false, true) => Err(format!(
            "`learn.objective.value` fits value targets, which credit rule `{name}` does not write; remove it or use {}",
            rules(|rule| rule.needs().values)
        )),
        _ => Ok(()),
    }
}

/// What a rule reads of what is said of episodes, somebody says.
pub(crate) fn annotations(recipe: &Recipe) -> Result<(), String> {
    let name = recipe.credit.about().name;
    let given = crate::checks::given(recipe);
    for AnnotationNeed { name: need, per_turn } in recipe.credit.needs().annotations {
        if !given.contains(&need) {
            let hint = hint(&need, given.iter().map(String::as_str));
            return Err(format!(
                "credit rule `{name}` reads the annotation `{need}`, which nobody gives{hint}; add an annotator or a judge that does"
            ));
        }
        if per_turn && !speaks_of_turns(recipe, &need) {
            return Err(format!(
                "credit rule `{name}` reads what the annotation `{need}` says of each turn, and it speaks of whole episodes alone; \
                 say `per_turn = true` where a judge gives it, or have an annotator of type `command` answer with `turns`"
            ));
        }
    }
    Ok(())
}

/// Whether whoever gives an annotation may say something of each turn.
fn speaks_of_turns(recipe: &Recipe, name: &String) -> bool {
    let asked = recipe.judges.get(name).and_then(|judge| judge.asked());
    let annotators = recipe.annotators.iter().filter(|annotator| annotator.gives().contains(name));
    asked.is_some_and(|judge| judge.per_turn) || annotators.into_iter().any(|one| one.speaks_of_turns())
}

/// What grows turn by turn is learned from turn by turn.
pub(crate) fn grow(recipe: &Recipe) -> Result<(), String> {
    if recipe.rollout.grow.is_none() {
        return Ok(());
    }
    let by_turn =
        |rule: &dyn CreditRule| rule.properties().learns_from(Differs::Branches) || rule.trains_left();
    if !by_turn(&*recipe.credit) {
        return Err(format!(
            "`rollout.grow` gives branches that share their first turns or were left, and credit rule `{}` compares whole episodes; use {}",
            recipe.credit.about().name,
            rules(by_turn)
        ));
    }
    let (objective, needs) = (&recipe.learn.objective, recipe.learn.objective.needs());
    if objective.scope() != Scope::Sequence || objective.average() == Average::Units || needs.group_reward {
        return Err(format!(
            "objective `{}` has a loss of whole episodes, and `rollout.grow` gives branches that share their first turns; use \
             `policy-gradient`",
            objective.about().name
        ));
    }
    match merit_reward::Scorer::compile(&recipe.reward).is_ok_and(|scorer| scorer.compares()) {
        true => Err("the reward compares episodes with others of their step, and `rollout.grow` leaves branches unfinished; pay each \
                     episode by itself, or leave `grow` out"
            .into()),
        false => Ok(()),
    }
}

/// Whether a rule compares the members of a group.
fn compares(rule: &dyn CreditRule) -> bool {
    rule.properties().compares_members
}

/// The shipped rules, with their defaults, of which something holds.
fn rules(holds: impl Fn(&dyn CreditRule) -> bool) -> String {
    let rules =
        RULES.iter().filter(|entry| (entry.read)(toml::Table::new()).is_ok_and(|(rule, _)| holds(&*rule)));
    rules.map(|entry| format!("`{}`", entry.about.name)).collect::<Vec<_>>().join(", ")
}

/// Shaping that counts turns agrees with rules that discount by token only where nothing is discounted.
fn shaping(recipe: &Recipe, rule: &str, discount: f64) -> Result<(), String> {
    if discount == 1.0 || !shapes_by_turn(&recipe.reward) {
        return Ok(());
    }
    Err(format!(
        "`shaping` with `step = \"turn\"` discounts by turn, but credit rule `{rule}` by token (`credit.gamma = {discount}`), \
         so the shaped reward would change what is optimal; use `step = \"token\"`, or `credit.gamma = 1.0`"
    ))
}

fn shapes_by_turn(reward: &RewardConfig) -> bool {
    let here = reward.settings::<Shaping>().is_some_and(|shaping| shaping.step == ShapingStep::Turn);
    here || reward.children().into_iter().any(shapes_by_turn)
}
