//! Stages that parse but cannot be done: names that nobody wrote, orders that cannot be, numbers that mean nothing.

use crate::recipe::Recipe;
use crate::stages::{DEMONSTRATIONS, KeepEpisodes, Prefer, StageSettings};
use merit_core::registry::nearest;
use std::collections::{BTreeMap, BTreeSet};

/// What a dataset holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Episodes,
    Pairs,
}

/// `Err` with the reason when the stages cannot be done.
pub(crate) fn check(recipe: &Recipe) -> Result<(), String> {
    if recipe.stages.is_empty() {
        return Ok(());
    }
    if let Some(control) = recipe.controls.first() {
        return Err(format!(
            "a recipe with `[[stages]]` has no controls, and this one has `{}`; make the control a recipe of its own",
            control.name
        ));
    }
    let mut walk = Walk { phases: BTreeSet::new(), datasets: BTreeMap::new(), taught: 0 };
    walk.all(&recipe.stages, false)?;
    if walk.taught > 1 && !recipe.roles.teacher.is_oracle() {
        return Err(
            "two stages imitate demonstrations, and a model teaches (`roles.teacher`): what it showed is kept once; \
                    imitate it in one stage, or let the world's own demonstrator teach"
                .into(),
        );
    }
    Ok(())
}

struct Walk {
    phases: BTreeSet<String>,
    datasets: BTreeMap<String, Holds>,
    taught: usize,
}

impl Walk {
    fn all(&mut self, stages: &[StageSettings], repeated: bool) -> Result<(), String> {
        stages.iter().try_for_each(|stage| match stage {
            StageSettings::Repeat(_) if repeated => {
                Err("a `repeat` stands inside another; one level is all there is".to_owned())
            }
            StageSettings::Repeat(repeat) if repeat.times == 0 || repeat.stages.is_empty() => {
                Err("a `repeat` needs `times` of at least 1, and stages to repeat".to_owned())
            }
            StageSettings::Repeat(repeat) => self.all(&repeat.stages, true),
            stage => self.one(stage).map_err(|why| format!("{}: {why}", stage.title())),
        })
    }

    fn one(&mut self, stage: &StageSettings) -> Result<(), String> {
        let (set, may) = stage.may_set();
        if let Some(other) = set.keys().find(|key| !may.contains(&key.as_str())) {
            return Err(format!("`set` holds `{other}`; here it may hold {}", may.join(", ")));
        }
        let phase = stage.phase().expect("only a repeat has no phase");
        if !crate::checks::plain(phase.owner()) {
            return Err("its name must be made of lower-case letters, digits and `-`".into());
        }
        if !self.phases.insert(phase.to_string()) {
            return Err("another stage is called so too; give one of them a `name`".into());
        }
        match stage {
            StageSettings::Imitate(stage) if stage.from == DEMONSTRATIONS => self.taught += 1,
            StageSettings::Imitate(stage) => {
                self.read(&stage.from, Holds::Episodes)?;
                let how = stage.supervision()?;
                supervised(how.batch, how.learning_rate)?;
            }
            StageSettings::Collect(stage) => {
                counted("tasks", stage.tasks.into())?;
                counted("samples", stage.samples.into())?;
                self.write(&stage.into, Holds::Episodes)?;
            }
            StageSettings::Make(stage) => {
                self.read(&stage.from, Holds::Episodes)?;
                let pairs = stage.keep == KeepEpisodes::Pairs;
                self.write(&stage.into, if pairs { Holds::Pairs } else { Holds::Episodes })?;
            }
            StageSettings::Prefer(stage) => {
                self.read(&stage.from, Holds::Pairs)?;
                preferring(stage)?;
            }
            StageSettings::Evaluate(stage) if stage.temperature.is_some() && stage.samples == 0 => {
                return Err("`temperature` is for `samples`; the other episodes are greedy".into());
            }
            StageSettings::Learn(_) | StageSettings::Evaluate(_) | StageSettings::Repeat(_) => {}
        }
        Ok(())
    }

    fn read(&self, name: &str, wanted: Holds) -> Result<(), String> {
        match (self.datasets.get(name), wanted) {
            (Some(held), wanted) if *held == wanted => Ok(()),
            (Some(_), Holds::Pairs) => Err(format!(
                "`from = \"{name}\"` holds episodes, and pairs are needed; make them with `keep = \"pairs\"`"
            )),
            (Some(_), Holds::Episodes) => Err(format!(
                "`from = \"{name}\"` holds pairs, the worse of which nobody should imitate; read the dataset they were made from"
            )),
            (None, _) => {
                let known = self.datasets.keys().map(String::as_str);
                let hint = nearest(name, known)
                    .map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
                Err(format!("`from = \"{name}\"`: no stage before it writes such a dataset{hint}"))
            }
        }
    }

    fn write(&mut self, name: &str, holds: Holds) -> Result<(), String> {
        if name == DEMONSTRATIONS || !crate::checks::plain(name) {
            return Err(format!(
                "`into = \"{name}\"` cannot be a dataset's name: it is made of lower-case letters, digits and `-`, and \
                 `{DEMONSTRATIONS}` are the teacher's"
            ));
        }
        self.datasets.insert(name.to_owned(), holds);
        Ok(())
    }
}

fn counted(key: &str, value: u64) -> Result<(), String> {
    match value {
        0 => Err(format!("`{key}` is 0; it must be at least 1")),
        _ if value > crate::checks::MOST_EPISODES => {
            Err(format!("`{key}` is {value}; at most {} can be", crate::checks::MOST_EPISODES))
        }
        _ => Ok(()),
    }
}

fn supervised(batch: usize, rate: f32) -> Result<(), String> {
    counted("batch", batch as u64)?;
    if rate.is_finite() && rate > 0.0 {
        Ok(())
    } else {
        Err(format!("`learning_rate` is {rate}; it must be positive"))
    }
}

fn preferring(stage: &Prefer) -> Result<(), String> {
    supervised(stage.batch, stage.learning_rate)?;
    let needs = stage.objective.needs();
    // Pairs are kept, so after the first update nobody on-policy has sampled them, and no credit rule has seen them.
    let of_pairs =
        needs.reward && needs.reference && !needs.advantages && !needs.on_policy && !needs.old_logprobs;
    if of_pairs {
        return Ok(());
    }
    let name = stage.objective.about().name;
    Err(format!("objective `{name}` does not learn from pairs and a reference policy; `dpo` and `kto` do"))
}
