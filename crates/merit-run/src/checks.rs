//! Combinations that parse but cannot work, each with the reason and the alternative.

use crate::alternatives;
use crate::model::ModelConfig;
use crate::recipe::{Control, Recipe};
use crate::stages::StageSettings;
use crate::tasks::Tasks;
use merit_api::{Manner, WorldSettings};
use merit_core::{Arm, Chosen};
use merit_learn::Average;
use merit_rollout::RolloutSettings;
use std::collections::BTreeMap;

/// Every reason why the recipe cannot work, each a mistake of its own. `shown`: there is a world to demonstrate in. `staged`: the
/// stages use all there is for them.
pub(crate) fn check(recipe: &Recipe, shown: bool, staged: bool) -> Vec<String> {
    let mut found = Found::default();
    let model = found.fine(model(recipe));
    let rollout = found.fine(recipe.rollout.validate().map_err(|e| format!("[rollout] {e}")));
    if rollout {
        found.fine(tool_seconds(recipe));
        found.fine(sampling(recipe));
    }
    if model && rollout {
        found.fine(context(recipe));
    }
    found.fine(reward(recipe));
    found.fine(window(recipe));
    found.fine(recipe.learn.validate().map_err(|e| format!("[learn] {e}")));
    found.fine(recipe.interleave.as_ref().map_or(Ok(()), crate::interleave::Interleave::check));
    found.fine(recipe.budget.until.map_or(Ok(()), |until| until.check()));
    found.fine(recipe.bank.as_ref().map_or(Ok(()), crate::bank::Bank::check));
    found.fine(recipe.memory.as_ref().map_or(Ok(()), crate::memory::MemorySettings::check));
    found.fine(one_preface(recipe));
    let counted = found.every(counts(recipe)) && found.fine(minibatches(recipe));
    // Who compares the members of a group says so first; the others would only repeat it.
    if counted && found.fine(crate::credit_checks::group_size(recipe)) {
        let (groups, size) = (recipe.budget.groups, recipe.budget.group_size);
        found.fine(recipe.tasks.as_ref().map_or(Ok(()), |tasks| tasks.check(groups, size)));
        found.fine(guests(recipe));
        found.fine(tree(recipe));
        found.fine(rollback(recipe));
        found.fine(crate::credit_checks::grow(recipe));
    }
    found.fine(crate::credit_checks::credit(recipe));
    found.fine(crate::credit_checks::annotations(recipe));
    found.fine(recipe.roles.user.check().map_err(|why| format!("[roles.user] {why}")));
    found.fine(person(recipe));
    if found.fine(recipe.roles.teacher.check().map_err(|why| format!("[roles.teacher] {why}"))) && shown {
        found.every(crate::warm_start::check(recipe));
    }
    found.fine(names(recipe));
    found.fine(ablation(recipe));
    found.every(controls(recipe));
    // A misspelt name in a stage leaves what it meant unused.
    let named = found.fine(crate::models::names(recipe));
    if staged && named && found.every(crate::stage_checks::check(recipe)) {
        found.fine(crate::models::check(recipe));
        found.every(crate::evolve::check(recipe));
        found.every(crate::judges::check(recipe));
    }
    found.0
}

/// The reasons so far.
#[derive(Default)]
struct Found(Vec<String>);

impl Found {
    fn fine(&mut self, checked: Result<(), String>) -> bool {
        self.every(checked.err())
    }

    fn every(&mut self, reasons: impl IntoIterator<Item = String>) -> bool {
        let before = self.0.len();
        self.0.extend(reasons);
        self.0.len() == before
    }
}

fn model(recipe: &Recipe) -> Result<(), String> {
    let ModelConfig::Fresh(model) = &recipe.model else { return Ok(()) };
    model.decoder(model.vocabulary).validate().map_err(|e| model_words(&e))?;
    let least = merit_model::Tokenizer::train(std::iter::empty(), 0).vocab_len();
    if model.vocabulary < least {
        let given = model.vocabulary;
        return Err(format!("`model.vocabulary` is {given}; bytes and markers alone need {least}"));
    }
    Ok(())
}

fn tool_seconds(recipe: &Recipe) -> Result<(), String> {
    let given = recipe.rollout.tool_seconds;
    match recipe.world.timeout_s().filter(|own| given < *own) {
        Some(own) => Err(format!(
            "`rollout.tool_seconds` is {given}, but a tool of the world may take {own} s by its own limit, so that calls would be \
             given up half-way and lose what they keep; raise the one or lower the tool's own (`seconds`, for a server \
             `timeout_s`, for SQL `limits.wall_ms`)"
        )),
        None => Ok(()),
    }
}

/// What reads an episode as a whole cannot learn from one that was played through a window.
fn window(recipe: &Recipe) -> Result<(), String> {
    if recipe.rollout.window.is_none() {
        return Ok(());
    }
    let pairs = |stage: &&StageSettings| matches!(stage, StageSettings::Prefer(stage) if !recipe.datasets.contains_key(&stage.from));
    let whole = if recipe.learn.objective.average() == Average::Units {
        format!("objective `{}` has one loss for a whole sequence", recipe.learn.objective.about().name)
    } else if recipe.learn.mask.observations() {
        format!("mask `{}` trains observations where they stand in the whole", recipe.learn.mask.about().name)
    } else if let Some(stage) = recipe.stages.iter().flat_map(StageSettings::each).find(pairs) {
        format!("{} compares whole episodes", stage.title())
    } else {
        return Ok(());
    };
    Err(format!("`rollout.window` is set, and {whole}; leave the window out"))
}

fn reward(recipe: &Recipe) -> Result<(), String> {
    let scorer = merit_reward::Scorer::compile(&recipe.reward).map_err(|e| format!("[reward] {e}"))?;
    if !scorer.tells_solved() {
        return Err(format!(
            "[reward] no term says when a task is solved, so success could not be measured; add a term that does: {}, or name one \
             with `solved-by`",
            alternatives::solving_terms(recipe)
        ));
    }
    let given = given(recipe);
    match scorer.needs().iter().find(|need| need.required && !given.contains(&need.name)) {
        Some(need) => Err(format!(
            "[reward] a term needs the annotation `{}`, which nobody gives{}; add an annotator that does, or make the term \
             `optional`",
            need.name,
            crate::stage_checks::hint(&need.name, given.iter().map(String::as_str))
        )),
        None => Ok(()),
    }
}

/// The annotations that somebody in the recipe gives.
pub(crate) fn given(recipe: &Recipe) -> Vec<String> {
    let own = recipe.models.keys().chain(recipe.judges.keys()).cloned();
    recipe.annotators.iter().flat_map(|annotator| annotator.gives()).chain(own).collect()
}

pub(crate) const MOST_EPISODES: u64 = 1_000_000;

fn per_step(recipe: &Recipe) -> u64 {
    let rounds = recipe.tasks.as_ref().map_or(1, Tasks::most_rounds);
    (u64::from(recipe.budget.groups) * u64::from(recipe.budget.group_size)).saturating_mul(rounds)
}

/// The decoder's complaint in the words of the recipe.
fn model_words(error: &merit_formats::ConfigError) -> String {
    let keys =
        [("d_model", "width"), ("d_ff", "feed_forward"), ("max_context", "context"), ("vocab", "vocabulary")];
    let renamed = |text: String, (theirs, ours): &(&str, &str)| {
        text.replace(&format!("`{theirs}`"), &format!("`{ours}`"))
    };
    format!("[model] {}", keys.iter().fold(error.to_string(), renamed))
}

fn counts(recipe: &Recipe) -> Vec<String> {
    let positive = [
        ("budget.groups", u64::from(recipe.budget.groups)),
        ("budget.group_size", u64::from(recipe.budget.group_size)),
        ("budget.checkpoint_every", recipe.budget.checkpoint_every),
        ("evaluation.tasks", u64::from(recipe.evaluation.tasks)),
    ];
    let episodes = match &recipe.tasks {
        Some(Tasks { refill: Some(_), .. }) => {
            "budget.groups × budget.group_size × (1 + tasks.refill.attempts)"
        }
        _ => "budget.groups × budget.group_size",
    };
    let kept_in_memory = [
        (episodes, per_step(recipe)),
        ("evaluation.tasks", u64::from(recipe.evaluation.tasks)),
        ("evaluation.tasks_between", u64::from(recipe.evaluation.tasks_between)),
    ];
    let mut found = Found::default();
    found.every(positive.into_iter().filter_map(|number| at_least_one(&[number]).err()));
    found.every(kept_in_memory.into_iter().filter_map(|number| in_memory(&[number]).err()));
    if recipe.evaluation.every > 0 && recipe.evaluation.tasks_between == 0 {
        found.every([
            "`evaluation.tasks_between` is 0 but `evaluation.every` asks for evaluations; set either"
                .to_owned(),
        ]);
    }
    found.0
}

/// More parts than there are episodes would be as many as episodes, without a word.
fn minibatches(recipe: &Recipe) -> Result<(), String> {
    let (parts, most) = (recipe.learn.minibatches, per_step(recipe));
    match usize::try_from(most).is_ok_and(|most| parts > most) {
        true => Err(format!(
            "`learn.minibatches` is {parts}, and a step has {most} episodes (`budget.groups` × `budget.group_size`); ask for {most} or fewer"
        )),
        false => Ok(()),
    }
}

fn context(recipe: &Recipe) -> Result<(), String> {
    let (context, turn) = (recipe.model.context(), recipe.rollout.max_turn_tokens);
    if turn < context {
        return Ok(());
    }
    Err(format!(
        "`model.context` is {context}, and one turn may take {turn} tokens (`rollout.max_turn_tokens`), so that no prompt \
         would fit beside it; raise the one or lower the other"
    ))
}

/// Refuses a number of nothing.
pub(crate) fn at_least_one(numbers: &[(&str, u64)]) -> Result<(), String> {
    match numbers.iter().find(|(_, value)| *value == 0) {
        Some((name, _)) => Err(format!("`{name}` is 0; it must be at least 1")),
        None => Ok(()),
    }
}

/// Refuses more episodes than are held in memory at once.
pub(crate) fn in_memory(numbers: &[(&str, u64)]) -> Result<(), String> {
    match numbers.iter().find(|(_, value)| *value > MOST_EPISODES) {
        Some((name, value)) => Err(format!(
            "`{name}` is {value}; so many episodes are held in memory at once, and at most {MOST_EPISODES} can be"
        )),
        None => Ok(()),
    }
}

/// Refuses shares of manners that the world does not have or that do not add up. None at all are fine.
pub(crate) fn manner_shares(
    key: &str,
    shares: &BTreeMap<String, f64>,
    world: &Chosen<dyn WorldSettings>,
) -> Result<(), String> {
    if shares.is_empty() {
        return Ok(());
    }
    let known = world.manners();
    for (name, share) in shares {
        Manner::find(&known, name).map_err(|unknown| format!("`{key}`: {unknown}"))?;
        if !(0.0..=1.0).contains(share) {
            return Err(format!("`{key}.{name}` is {share}; it is a share between 0 and 1"));
        }
    }
    let sum: f64 = shares.values().sum();
    if (sum - 1.0).abs() > 1e-6 {
        return Err(format!("the shares of `{key}` add up to {sum}; they must add up to 1"));
    }
    Ok(())
}

fn guests(recipe: &Recipe) -> Result<(), String> {
    match &recipe.guests {
        Some(guests) => guests.check(recipe),
        None if recipe.learn.objective.needs().guests => {
            let name = recipe.learn.objective.about().name;
            Err(format!(
                "`learn.objective = {name}` is for groups that a teacher's episodes have joined, and there is no `[guests]` table; \
                 add one, or use {}",
                alternatives::objectives(recipe, |objective| !objective.needs().guests
                    && objective.needs().reads_outcome())
            ))
        }
        None => Ok(()),
    }
}

fn sampling(recipe: &Recipe) -> Result<(), String> {
    let rollout = &recipe.rollout;
    if rollout.temperature == 0.0 {
        return Err(
            "`rollout.temperature` is 0: members of a group would all be the same and teach nothing; \
                    evaluation is greedy by itself"
                .into(),
        );
    }
    if rollout.top_p < 1.0 {
        return Err("`rollout.top_p` below 1 makes the recorded log-probabilities differ from those the policy acted by, \
                    so the policy gradient would be biased; leave it at 1 and use `temperature`"
            .into());
    }
    let measured = RolloutSettings { temperature: recipe.evaluation.temperature, ..rollout.clone() };
    measured.validate().map_err(|error| error.to_string().replace("rollout setting `", "`evaluation."))?;
    if rollout.grammar && recipe.budget.steps > 0 {
        return Err("`rollout.grammar` makes the policy act by other probabilities than it is trained with, so the policy gradient would \
                    be biased; set `budget.steps = 0`, or give it to a stage that evaluates: `set = { rollout = { grammar = true } }`"
            .into());
    }
    Ok(())
}

fn tree(recipe: &Recipe) -> Result<(), String> {
    let size = recipe.budget.group_size;
    match recipe.rollout.tree.as_ref().filter(|tree| tree.roots >= size) {
        Some(tree) => Err(format!(
            "`rollout.tree.roots` is {}, and a group has {size} members (`budget.group_size`): none would fork; \
             ask for fewer roots or leave `tree` out",
            tree.roots
        )),
        None => Ok(()),
    }
}

/// What is shown with a task comes from one place.
fn one_preface(recipe: &Recipe) -> Result<(), String> {
    match recipe.bank.is_some() && recipe.memory.is_some() {
        true => Err("[bank] and [memory] both say what is shown with a task; keep one of them".into()),
        false => Ok(()),
    }
}

/// A person who is a model says things otherwise the second time.
fn person(recipe: &Recipe) -> Result<(), String> {
    let repeats = recipe.rollout.tree.is_some()
        || recipe.rollout.grow.is_some()
        || recipe.rollout.rollback.is_some()
        || recipe.bank.is_some()
        || recipe.memory.is_some()
        || recipe.credit.needs().probes_per_turn > 0
        || recipe.stages.iter().flat_map(StageSettings::each).any(|stage| stage.search().is_some());
    match repeats && !recipe.roles.user.is_oracle() {
        true => Err("`roles.user` is a model, which does not say the same thing twice, and `rollout.tree`, `rollout.grow`, `rollout.rollback`, `[bank]`, `[memory]`, `search` and credit \
                     rules that continue episodes open tasks again; leave these out, or the model"
            .into()),
        false => Ok(()),
    }
}

fn rollback(recipe: &Recipe) -> Result<(), String> {
    if recipe.rollout.rollback.is_none() {
        return Ok(());
    }
    let (rule, needs) = (recipe.credit.about().name, recipe.credit.needs());
    if recipe.rollout.tree.is_some() {
        return Err("`rollout.rollback` and `rollout.tree` both play episodes from the middle of others; take one of them".into());
    }
    if needs.values || needs.probes_per_turn > 0 {
        return Err(format!(
            "`rollout.rollback` puts turns where they were not sampled, and credit rule `{rule}` needs values or continuations from \
             there; use {}",
            alternatives::credit_rules(recipe, |rule| !rule.needs().values
                && rule.needs().probes_per_turn == 0)
        ));
    }
    Ok(())
}

/// What every arm has in common; a control that set one of these would be ignored.
fn controls(recipe: &Recipe) -> Vec<String> {
    let shared = |control: &Control| {
        let (name, shared, own) = (&control.name, shared_key(control)?, OWN.join(", "));
        Some(format!("control `{name}` sets `{shared}`, which all arms share; a control may set {own}"))
    };
    recipe.controls.iter().filter_map(shared).collect()
}

/// A key that a control sets though all arms share it.
pub(crate) fn shared_key(control: &Control) -> Option<&str> {
    control.set.keys().map(String::as_str).find(|key| !OWN.contains(key))
}

const OWN: [&str; 6] = ["world", "rollout", "reward", "credit", "learn", "tasks"];

/// Training on answers is what everything else here prevents; it is done to show what it does, and only where that is said.
fn ablation(recipe: &Recipe) -> Result<(), String> {
    if !recipe.learn.mask.observations() || recipe.ablation {
        return Ok(());
    }
    let name = recipe.learn.mask.about().name;
    Err(format!(
        "`learn.mask = {name}` trains what tools and the world said as if the policy had said it; that is an ablation, so say \
         `ablation = true` at the top of the recipe, or leave the mask out"
    ))
}

/// Whether a name is made of lower-case letters, digits and `-`.
pub(crate) fn plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn names(recipe: &Recipe) -> Result<(), String> {
    let controls = recipe.controls.iter().map(|c| &c.name);
    if let Some(odd) = std::iter::once(&recipe.name).chain(controls).find(|name| !plain(name)) {
        return Err(format!("the name `{odd}` must be made of lower-case letters, digits and `-`"));
    }
    if recipe.controls.iter().any(|control| control.name == Arm::Main.name()) {
        return Err("a control cannot be called `main`: that is the recipe's own arm".into());
    }
    let mut seen = std::collections::BTreeSet::new();
    match recipe.controls.iter().find(|c| !seen.insert(&c.name)) {
        Some(twice) => Err(format!("two controls are called `{}`", twice.name)),
        None => Ok(()),
    }
}
