//! A look at what a recipe names, before a run: are its files there, are there tasks to measure on, can anybody teach.
//!
//! Reading a recipe opens nothing beside its text; this reads the files that it names, and starts nothing.

use crate::evaluate::fewer;
use crate::model::ModelConfig;
use crate::recipe::Recipe;
use crate::roles::{Backend, EmbeddedModel};
use crate::stages::StageSettings;
use merit_core::printable::count;
use std::path::Path;

impl Recipe {
    /// Refuses what would fail at the start of a run, in the words of a recipe; what would go on otherwise than one may think
    /// comes back as notes.
    pub fn look(&self) -> Result<Vec<String>, String> {
        self.trainable().map_err(|error| error.to_string())?;
        let mut notes = Vec::new();
        if let ModelConfig::File(model) = &self.model {
            model_file("model.file", &model.file)?;
        }
        if let Backend::Embedded(EmbeddedModel { file, .. }) = &self.roles.teacher {
            model_file("roles.teacher.file", file)?;
        }
        let world = self.world.look().map_err(|error| format!("[world] {error}"))?;
        match world.held_out {
            Some(0) => return Err(
                "[world] no task is held out, so nothing could be measured; raise `held_out`, or mark lines \
                                   with `\"split\": \"held-out\"`"
                    .into(),
            ),
            Some(found) if found < self.evaluation.tasks as usize => {
                notes.push(fewer(self.evaluation.tasks, found))
            }
            _ => {}
        }
        if world.expert == Some(false) && self.roles.teacher.is_oracle() && self.warm().steps > 0 {
            return Err("[warm_start] no task of the world shows its solution, so there is nothing to imitate; give lines \
                        `gold_moves` or `demonstration`, or name a model in `[roles.teacher]`"
                .into());
        }
        for (name, data) in &self.datasets {
            let read = data.read(name, self)?;
            notes.push(format!("`{name}`: {} of {}", count(read.examples.len(), "example"), data.file));
        }
        let (context, sampled) = (self.model.context(), self.rollout.max_episode_tokens);
        if sampled > context && self.rollout.window.is_none() {
            notes.push(format!(
                "`rollout.max_episode_tokens` is {sampled}, and the context holds {context} tokens (`model.context`), what is \
                 read included: longer episodes are cut by the context"
            ));
        }
        let elsewhere = |stage: &&StageSettings| stage.may_set().0.contains_key("world");
        for stage in self.stages.iter().flat_map(StageSettings::each).filter(elsewhere) {
            let own = self.of_stage("", stage).map_err(|error| error.to_string())?;
            let found = own.look().map_err(|why| format!("{}: {why}", stage.title()))?;
            notes.extend(found.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
        }
        Ok(notes)
    }
}

fn model_file(key: &str, file: &str) -> Result<(), String> {
    if Path::new(file).exists() {
        return Ok(());
    }
    Err(format!(
        "`{key}` is {file}, which is not there; give a GGUF file or a folder with `config.json` and safetensors"
    ))
}
