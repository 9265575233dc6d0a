//! `docs/reference.md`: every table, every component and every key.

use super::keys::{description, heading, keys, tables, type_words, words};
use merit_core::Components;
use merit_core::registry::{Listed, definition};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const OPENING: &str = "\
# Reference

Every key of recipes, reward files and system files. `merit recipe reference` prints this page, `merit list KIND NAME` the part about
one component. Both are read from the code, and so is the JSON Schema of recipes, [recipe.schema.json](recipe.schema.json). An editor
with Even Better TOML or taplo completes and checks a recipe that begins with this line; the path is relative to the recipe:

```toml
#:schema ./recipe.schema.json
```

`merit recipe schema` prints that schema, `--of reward` that of reward files, `--of system` that of system files.

A component is a table whose `type` is its name, `credit = { type = \"grpo\" }`. Where every key has a default, the name alone will do:
`credit = \"grpo\"`. Rewards are always tables. `absent` in the column of defaults means that leaving the key out says something that no
value says.
";

/// The page for recipes that may name `components`, and for system files.
pub fn page(components: &Components) -> String {
    let mut page = Page { text: OPENING.to_owned(), done: BTreeSet::new() };
    let recipe = super::recipe_schema(components);
    page.section("Recipes", "The top level of a recipe.", &recipe);
    page.components(&recipe, components);
    page.definitions("Tables", "Tables and words that the keys above name.", &recipe);
    let systems = super::system_schema();
    page.section("Systems", "The top level of a system file: one published claim.", &systems);
    page.components(&systems, &super::studies());
    page.definitions("Tables of systems", "Tables and words that system files name.", &systems);
    page.text
}

struct Page {
    text: String,
    /// Definitions that are written already.
    done: BTreeSet<String>,
}

impl Page {
    fn section(&mut self, title: &str, about: &str, document: &Value) {
        let _ = write!(self.text, "\n## {title}\n\n{about}\n");
        self.table(document, document);
    }

    /// Every component that the document may name, by kind. Studies and probes have no place in a recipe.
    fn components(&mut self, document: &Value, components: &Components) {
        let mut kinds: Vec<&str> = Vec::new();
        let defined = |listed: &&Listed| document["$defs"].get(listed.definition()).is_some();
        for listed in components.all().iter().filter(defined) {
            if !kinds.contains(&listed.kind) {
                kinds.push(listed.kind);
            }
        }
        for kind in kinds {
            let _ = write!(self.text, "\n## {}\n", capital(kind));
            self.done.insert(definition(kind));
            for listed in components.all().iter().filter(|listed| listed.kind == kind) {
                self.component(document, listed);
            }
        }
    }

    fn component(&mut self, document: &Value, listed: &Listed) {
        let name = listed.definition();
        let _ = write!(self.text, "\n### {}\n\n{}\n", listed.about.name, listed.about.help());
        self.table(document, &document["$defs"][&name]);
        let _ = write!(self.text, "\n```toml\n{}```\n", listed.document());
        self.done.insert(name);
    }

    /// Every definition that is not written yet.
    fn definitions(&mut self, title: &str, about: &str, document: &Value) {
        let _ = write!(self.text, "\n## {title}\n\n{about}\n");
        for (name, schema) in document["$defs"].as_object().into_iter().flatten() {
            let (tables, words) = (tables(schema), words(schema));
            let choices = schema.get("oneOf").or_else(|| schema.get("anyOf")).is_some() && name != "reward";
            if (tables.is_empty() && words.is_empty() && !choices) || !self.done.insert(name.clone()) {
                continue;
            }
            let about = description(schema);
            let _ = write!(self.text, "\n### {}\n\n{about}\n", capital(&heading(name)));
            if tables.is_empty() && words.is_empty() {
                let _ = write!(self.text, "\nOne of: {}.\n", type_words(document, schema, &mut Vec::new()));
            }
            if !words.is_empty() {
                self.words(&words);
            }
            for table in tables {
                if !std::ptr::eq(table, schema) {
                    let about = description(table);
                    let _ = write!(self.text, "\n{about}\n");
                }
                self.table(document, table);
            }
        }
    }

    fn words(&mut self, words: &[(String, String)]) {
        self.text.push_str("\n| word | meaning |\n|---|---|\n");
        for (word, meaning) in words {
            let _ = writeln!(self.text, "| `{word}` | {} |", cell(meaning));
        }
    }

    fn table(&mut self, document: &Value, table: &Value) {
        self.text.push_str("\n| key | type | default | meaning |\n|---|---|---|---|\n");
        for key in keys(document, table) {
            let default = match key.default.as_str() {
                "required" | "absent" => key.default.clone(),
                value => format!("`{value}`"),
            };
            let (name, of, meaning) = (&key.name, cell(&key.of), cell(&key.meaning));
            let _ = writeln!(self.text, "| `{name}` | {of} | {} | {meaning} |", cell(&default));
        }
    }
}

/// Text that stays in its cell.
fn cell(text: &str) -> String {
    text.replace("\n\n", "<br>").replace('\n', " ").replace('|', "\\|")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
