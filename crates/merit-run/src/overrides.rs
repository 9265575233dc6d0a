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
    let whole = |text: &str| text.trim_start_matches(['+', '-']).bytes().all(|byte| byte.is_ascii_digit());
    parsed.and_then(|mut table| table.remove("value")).unwrap_or_else(|| match text.parse::<f64>() {
        // Larger than any whole number of TOML, and a number still.
        Ok(number) if whole(text) => toml::Value::Float(number),
        _ => toml::Value::String(text.to_owned()),
    })
}

/// What is below this key are somebody's own words, each with one spelling: settings of a world, a term or a tool in Python.
const OWN_WORDS: &str = "settings";

/// Puts `value` at a dotted path; only the last part may be new.
pub fn set_path(table: &mut toml::Table, path: &str, value: toml::Value) -> Result<(), String> {
    put(table, path, value, false)
}

fn put(table: &mut toml::Table, path: &str, value: toml::Value, own_words: bool) -> Result<(), String> {
    let (head, rest) = path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
    let key = if own_words { head } else { as_spelt_in(table, head) }.to_owned();
    let Some(rest) = rest else {
        // A component of another type takes the place of the one before, whole.
        if key == "type" && table.get("type").is_some_and(|was| *was != value) {
            table.clear();
        }
        table.insert(key, value);
        return Ok(());
    };
    // An absent section may be an optional one; whether it exists at all is for the parser to say.
    let next = table.entry(key).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    let next = next.as_table_mut().ok_or_else(|| format!("`{head}` is a value, not a section"))?;
    put(next, rest, value, own_words || head == OWN_WORDS)
}

/// Lays `changes` over `base`, table by table. A component of another type takes the place of the one before, whole; so does a model from
/// a file that of a decoder made on the spot, and the other way round.
pub fn merge(base: &mut toml::Table, changes: &toml::Table) {
    lay(base, changes, false);
}

fn lay(base: &mut toml::Table, changes: &toml::Table, own_words: bool) {
    for (key, value) in changes {
        // Two spellings in one change stay two, and are refused when the whole is read.
        let spellings = SPELLINGS.iter().find(|spellings| spellings.contains(&key.as_str()));
        let given = spellings
            .map_or(1, |spellings| spellings.iter().filter(|one| changes.contains_key(**one)).count());
        let key = if own_words || given > 1 { key } else { as_spelt_in(base, key) };
        match (base.get_mut(key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(change))
                if !replaces(key, inner, change) =>
            {
                lay(inner, change, own_words || key == OWN_WORDS);
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
        true => {
            !change.contains_key("file")
                && FRESH_ONLY.iter().any(|key| change.contains_key(as_spelt_in(change, key)))
        }
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
        let mut resolved: toml::Table = toml::from_str("loss_agg = 1").unwrap();
        merge(&mut resolved, &toml::from_str("loss_aggregation = 2\nnormaliser = 3").unwrap());
        assert_eq!(resolved.len(), 3, "two that are given are not one");
    }

    #[test]
    fn another_type_takes_the_place_of_the_component_whole() {
        let mut table: toml::Table =
            toml::from_str("credit = { type = 'grpo', scale_by_std = true }").unwrap();
        set_path(&mut table, "credit.type", "grpo".into()).unwrap();
        assert_eq!(table["credit"].as_table().unwrap().len(), 2);
        set_path(&mut table, "credit.type", "gae".into()).unwrap();
        assert_eq!(table, toml::from_str("credit = { type = 'gae' }").unwrap());
    }

    #[test]
    fn a_number_beyond_all_others_is_a_number() {
        assert_eq!(parse_value("99999999999999999999"), toml::Value::Float(1e20));
        assert_eq!(parse_value("1e"), toml::Value::String("1e".into()));
        assert_eq!(parse_value(""), toml::Value::String(String::new()));
    }

    #[test]
    fn settings_of_somebody_else_have_one_spelling() {
        let mut table: toml::Table = toml::from_str("world = { settings = { width = 8 } }").unwrap();
        set_path(&mut table, "world.settings.d_model", 64.into()).unwrap();
        merge(&mut table, &toml::from_str("world = { settings = { lr = 1, learning_rate = 2 } }").unwrap());
        let all = "world = { settings = { width = 8, d_model = 64, lr = 1, learning_rate = 2 } }";
        assert_eq!(table, toml::from_str(all).unwrap());
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
        let spelt = "model = { d_model = 64 }";
        assert_eq!(merged(file, spelt), toml::from_str(spelt).unwrap());
        // A change that fits both kinds changes what is there.
        let longer = merged(file, "model = { context = 512 }");
        assert_eq!(longer, toml::from_str("model = { file = 'm.gguf', context = 512 }").unwrap());
    }
}
