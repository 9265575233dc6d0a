//! The recipes that come with merit, and how a recipe is found by name or path.

use crate::recipe::{Recipe, RecipeError};
use merit_core::About;
use merit_core::registry::find;

/// A recipe that is part of the binary.
#[derive(Debug, Clone, Copy)]
pub struct Shipped {
    /// Name, one line, paper.
    pub about: About,
    /// The TOML text.
    pub text: &'static str,
}

/// What `merit train` runs when nothing is named.
pub const DEFAULT: &str = "ledger-tools";

/// Every shipped recipe.
pub const RECIPES: &[Shipped] = &[
    Shipped {
        about: About {
            name: DEFAULT,
            summary: "a small decoder learns to use a lookup and a calculator over many turns (GRPO)",
            paper: "ARTIST; VerlTool",
        },
        text: include_str!("../../../recipes/ledger-tools.toml"),
    },
    Shipped {
        about: About {
            name: "ledger-ppo",
            summary: "the ledger agent with a value head and GAE instead of group baselines (PPO)",
            paper: "PPO, arXiv:1707.06347; GAE, arXiv:1506.02438",
        },
        text: include_str!("../../../recipes/ledger-ppo.toml"),
    },
    Shipped {
        about: About {
            name: "smollm2-tools",
            summary: "SmolLM2-135M-Instruct learns to use a lookup and a calculator over many turns (GRPO, LoRA)",
            paper: "ARTIST; VerlTool; LoRA, arXiv:2106.09685",
        },
        text: include_str!("../../../recipes/smollm2-tools.toml"),
    },
    Shipped {
        about: About {
            name: "smollm2-tools-full",
            summary: "SmolLM2-135M-Instruct learns to use a lookup and a calculator over many turns (GRPO, all weights)",
            paper: "ARTIST; VerlTool",
        },
        text: include_str!("../../../recipes/smollm2-tools-full.toml"),
    },
];

/// The recipe of that name, or in that file.
pub fn load(name_or_path: &str) -> Result<Recipe, RecipeError> {
    let looks_like_a_path = name_or_path.ends_with(".toml") || name_or_path.contains('/');
    if looks_like_a_path {
        let text = std::fs::read_to_string(name_or_path)
            .map_err(|e| RecipeError::Read { file: name_or_path.to_owned(), why: e.to_string() })?;
        return Recipe::parse(name_or_path, &text);
    }
    let shipped = find("recipe", RECIPES, |r| r.about, name_or_path)?;
    Recipe::parse(&format!("recipes/{name_or_path}.toml"), shipped.text)
}
