//! All that cannot work in a recipe, in its arms and in its stages, each told once.

use crate::recipe::{Control, Recipe};
use crate::recipe_error::RecipeError;
use crate::stages::StageSettings;

impl Recipe {
    /// Itself, or all that cannot work in it. `whole`: it is a file, of which every part is of use.
    pub(crate) fn checked(mut self, file: &str, whole: bool) -> Result<Self, RecipeError> {
        if let Some(warm) = self.warm_start.as_mut().filter(|_| self.roles.teacher.is_oracle()) {
            warm.settle_skill();
        }
        let refused = |why| RecipeError::Combination { file: file.to_owned(), why };
        let demonstrated = self.demonstration_world_in(file).err();
        let shown = demonstrated.is_none();
        let idle = self.idle().filter(|_| whole);
        let whys = crate::checks::check(&self, shown, idle.is_none());
        let told = idle.into_iter().chain(whys).map(refused);
        let mut errors: Vec<RecipeError> = demonstrated.into_iter().chain(told).collect();
        // What is wrong with the recipe is wrong with its arms and stages too; of them is told only what they add.
        let sound = errors.is_empty();
        let own = |error: &RecipeError| sound || !matches!(error, RecipeError::Combination { .. });
        let told = |control: &&Control| crate::checks::shared_key(control).is_some();
        for control in self.controls.iter().filter(|control| shown && !told(control)) {
            let wrong = self.control_in(file, control).err();
            errors.extend(wrong.into_iter().flat_map(RecipeError::each).filter(own));
        }
        for stage in
            self.stages.iter().flat_map(StageSettings::each).filter(|_| shown && self.controls.is_empty())
        {
            if !stage.changes().is_empty() && stage.sets_wrongly().is_none() {
                let wrong = self.of_stage(file, stage).err();
                errors.extend(wrong.into_iter().flat_map(RecipeError::each).filter(own));
            }
        }
        // A misspelt name leaves a judge unused; the missing name is reported before the unused judge.
        if whole && errors.is_empty() {
            errors.extend(crate::judges::idle(&self).map(refused));
        }
        RecipeError::all(file, errors).map_or(Ok(self), Err)
    }

    /// A part that no stage reads or fits.
    fn idle(&self) -> Option<String> {
        if let Some(idle) = self.datasets.keys().find(|name| self.uses(name).next().is_none()) {
            return Some(format!(
                "[datasets.{idle}] is read by no stage; add `[[stages]]` with `type = \"imitate\"` or `\"prefer\"` and `from = \"{idle}\"`"
            ));
        }
        let idle = self.models.keys().next().filter(|_| self.stages.is_empty());
        if let Some(idle) = idle {
            return Some(format!("[models.{idle}] needs `[[stages]]`, one of which fits it"));
        }
        let idle = self.judges.iter().find(|(_, judge)| judge.evolving().is_some());
        let idle = idle.filter(|_| self.stages.is_empty());
        idle.map(|(idle, _)| format!("[judges.{idle}] needs `[[stages]]`, one of which evolves it"))
    }
}
