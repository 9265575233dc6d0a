//! Changes to a recipe before it is parsed: `--set key=value` and the differences of controls.

use crate::model::FRESH_ONLY;

/// Keys with several spellings. A change in one of them takes the place of what stands there in another.
const SPELLINGS: [&[&str]; 6] = [
    &["lr", "learning_rate"],
    &["skill", "p_correct"],
    &["optimiser", "optimizer"],
    &["loss_agg", "loss_aggregation", "normaliser"],
    &["width", "d_model"],
    &["feed_forward", "d_ff"],
];

/// The spelling in which `table` has `key`; `key` itself where it has it in none.
fn as_spelt_in<'a>(table: &toml::Table, key: &'a str) -> &'a str {
    if table.contains_key(key) {
        return key;
    }
    let spellings = SPELLINGS.iter().find(|spellings| spellings.contains(&key)).copied().unwrap_or_default();
    spellings.iter().copied().find(|other| table.contains_key(*other)).unwrap_or(key)
}

/// The value that `text` writes in TOML; a plain string when it is none.
pub fn parse_value(text: &str) -> toml::Value {
    let parsed = toml::from_str::<toml::Table>(&format!("value = {text}")).ok();
    parsed.and_then(|mut table| table.remove("value")).unwrap_or_else(|| toml::Value::String(text.to_owned()))
}

/// Puts `value` at a dotted path; only the last part may be new.
pub fn set_path(table: &mut toml::Table, path: &str, value: toml::Value) -> Result<(), String> {
    match path.split_once('.') {
        None => {
            table.insert(as_spelt_in(table, path).to_owned(), value);
            Ok(())
        }
        Some((head, rest)) => {
            // An absent section may be an optional one; whether it exists at all is for the parser to say.
            let next = table
                .entry(as_spelt_in(table, head))
                .or_insert_with(|| toml::Value::Table(toml::Table::new()));
            let next = next.as_table_mut().ok_or_else(|| format!("`{head}` is a value, not a section"))?;
            set_path(next, rest, value)
        }
    }
}

/// Lays `changes` over `base`, table by table. A component of another type takes the place of the one before, whole; so does a model from
/// a file that of a decoder made on the spot, and the other way round.
pub fn merge(base: &mut toml::Table, changes: &toml::Table) {
    for (key, value) in changes {
        // Two spellings in one change stay two, and are refused when the whole is read.
        let spelt = as_spelt_in(base, key);
        let key = if changes.contains_key(spelt) { key.as_str() } else { spelt };
        match (base.get_mut(key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(change))
                if !replaces(key, inner, change) =>
            {
                merge(inner, change);
            }
            _ => {
                base.insert(key.to_owned(), value.clone());
            }
        }
    }
}

fn replaces(key: &str, base: &toml::Table, change: &toml::Table) -> bool {
    let other_type = change.get("type").is_some_and(|kind| base.get("type").is_some_and(|was| was != kind));
    other_type || (key == "model" && other_model(base, change))
}

fn other_model(base: &toml::Table, change: &toml::Table) -> bool {
    match base.contains_key("file") {
        true => !change.contains_key("file") && FRESH_ONLY.iter().any(|key| change.contains_key(*key)),
        false => change.contains_key("file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_in_another_spelling_takes_the_place_of_what_is_there() {
        let mut table: toml::Table = toml::from_str("optimiser = { lr = 1.0 }\nskill = 0.5").unwrap();
        set_path(&mut table, "optimizer.learning_rate", 2.0.into()).unwrap();
        merge(&mut table, &toml::from_str("p_correct = 0.75\nsteps = 3").unwrap());
        assert_eq!(table, toml::from_str("optimiser = { lr = 2.0 }\nskill = 0.75\nsteps = 3").unwrap());
        // Both at once are not one of them.
        merge(&mut table, &toml::from_str("skill = 0.25\np_correct = 0.75").unwrap());
        assert!(table.contains_key("skill") && table.contains_key("p_correct"));
    }

    #[test]
    fn a_model_of_the_other_kind_takes_the_place_of_the_one_before() {
        let merged = |base: &str, change: &str| {
            let read = |text: &str| toml::from_str::<toml::Table>(text).unwrap();
            let mut base = read(base);
            merge(&mut base, &read(change));
            base
        };
        let (fresh, file) =
            ("model = { layers = 2, context = 64 }", "model = { file = 'm.gguf', context = 320 }");
        assert_eq!(merged(fresh, file), toml::from_str(file).unwrap());
        assert_eq!(merged(file, fresh), toml::from_str(fresh).unwrap());
        // A change that fits both kinds changes what is there.
        let longer = merged(file, "model = { context = 512 }");
        assert_eq!(longer, toml::from_str("model = { file = 'm.gguf', context = 512 }").unwrap());
    }
}
