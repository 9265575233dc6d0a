//! The recipes that come with merit, and how a recipe is found by name or path.

use crate::recipe::Recipe;
use crate::recipe_error::RecipeError;
use merit_core::registry::find;
use merit_core::{About, Components};
use std::sync::LazyLock;

/// A recipe that is part of the binary.
#[derive(Debug, Clone, Copy)]
pub struct Shipped {
    /// The name of its file; one line and paper as its text says.
    pub about: About,
    /// The text of the recipe, TOML.
    pub text: &'static str,
}

/// What `merit train` runs when nothing is named.
pub const DEFAULT: &str = "ledger-tools";

macro_rules! recipes {
    ($($name:literal),+ $(,)?) => {
        &[$( ($name, include_str!(concat!("../../../recipes/", $name, ".toml"))) ),+]
    };
}

/// Every shipped recipe: its name and its text. To add one: its file, and its name in this list.
pub(crate) const TEXTS: &[(&str, &str)] = recipes![
    "ledger-tools",
    "ledger-ppo",
    "ledger-gspo",
    "ledger-dapo",
    "ledger-dpo",
    "ledger-kto",
    "ledger-turns",
    "ledger-branches",
    "ledger-trees",
    "ledger-json",
    "sums-tools",
    "sums-judge",
    "sums-self",
    "mixed-tools",
    "inquiry-form",
    "clinic-visit",
    "sale-talk",
    "catalogue-json",
    "lens-design",
    "service-desk",
    "boards-mines",
    "boards-window",
    "boards-push",
    "boards-strings",
    "kbqa-memory",
    "kbqa-notes",
    "kbqa-units",
    "kbqa-planner",
    "look-judge",
    "look-answer",
    "look-video",
    "look-count",
    "pairs-judge",
    "places-plan",
    "places-site",
    "places-practice",
    "places-quests",
    "places-errands",
    "places-blocks",
    "shop-gate",
    "tables-ask",
    "travel-plan",
    "tutor-replies",
    "toolshelf-use",
    "synth-examples",
    "repair-bugs",
    "repair-rubric",
    "ledger-filtered",
    "ledger-pairs",
    "ledger-reward-model",
    "ledger-merged",
    "smollm2-tools",
    "smollm2-tools-full",
];

pub fn recipes() -> &'static [Shipped] {
    static RECIPES: LazyLock<Vec<Shipped>> =
        LazyLock::new(|| TEXTS.iter().map(|(name, text)| describe(name, text)).collect());
    &RECIPES
}

fn describe(name: &'static str, text: &'static str) -> Shipped {
    let table: toml::Table = toml::from_str(text).unwrap_or_default();
    // Read once and kept for the life of the program.
    let word = |key: &str| -> &'static str {
        table.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned().leak()
    };
    Shipped { about: About { name, summary: word("about"), paper: word("paper") }, text }
}

/// The recipe of that name, or in that file, which names components of merit's own.
pub fn load(name_or_path: &str) -> Result<Recipe, RecipeError> {
    load_with(name_or_path, &crate::built_in())
}

/// The recipe of that name, or in that file, read against these components.
pub fn load_with(name_or_path: &str, components: &Components) -> Result<Recipe, RecipeError> {
    let looks_like_a_path = name_or_path.ends_with(".toml") || name_or_path.contains('/');
    if looks_like_a_path {
        let text = std::fs::read_to_string(name_or_path)
            .map_err(|e| RecipeError::Read { file: name_or_path.to_owned(), why: e.to_string() })?;
        return Recipe::read(name_or_path, &text, components);
    }
    let shipped = find("recipe", recipes(), |r| r.about, name_or_path)?;
    Recipe::read(&format!("recipes/{name_or_path}.toml"), shipped.text, components)
}
