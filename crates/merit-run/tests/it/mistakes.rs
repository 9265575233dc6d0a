//! A recipe with several mistakes: all are told at once, each with its place, and none twice.

use merit_run::{Recipe, reward_file};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

const SMALL: &str = include_str!("staged/small.toml");

/// The small recipe with these texts replaced.
fn spoilt(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(SMALL.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "the recipe has no `{from}`");
        text.replacen(from, to, 1)
    })
}

fn told(changes: &[(&str, &str)]) -> Vec<String> {
    let error = Recipe::parse("r.toml", &spoilt(changes)).unwrap_err().to_string();
    match error.split_once(" mistakes in r.toml:\n") {
        Some((count, rest)) => {
            let lines: Vec<String> = rest.lines().map(str::to_owned).collect();
            assert_eq!(count.parse(), Ok(lines.len()), "{error}");
            lines
        }
        None => vec![error],
    }
}

/// Where `needle` stands in the spoilt recipe, as a message begins.
fn place(changes: &[(&str, &str)], needle: &str) -> String {
    let text = spoilt(changes);
    let before = &text[..text.find(needle).unwrap()];
    let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
    format!("r.toml:{}:{column}: ", before.matches('\n').count() + 1)
}

#[track_caller]
fn check(changes: &[(&str, &str)], wanted: &[(&str, &str)]) {
    let told = told(changes);
    assert_eq!(told.len(), wanted.len(), "{told:#?}");
    for (line, (needle, message)) in told.iter().zip(wanted) {
        assert!(line.starts_with(&place(changes, needle)), "{needle}: {line}");
        assert!(line.contains(message), "{message}: {line}");
    }
}

#[test]
fn independent_mistakes_are_told_together_in_the_order_of_the_text() {
    check(
        &[
            ("layers = 1", "layres = 1"),
            ("skill = 0.5", "skill = \"half\""),
            ("\"exact-answer\"", "\"exact-answr\""),
            ("type = \"grpo\"", "type = \"grpo\"\nscale_by_sdt = true"),
            ("groups = 4", "groups = -4"),
            ("[evaluation]", "[evalaution]"),
        ],
        &[
            ("layres", "unknown field `layres`"),
            ("\"half\"", "invalid type: string \"half\""),
            ("\"exact-answr\"", "unknown reward term or combinator `exact-answr`"),
            ("scale_by_sdt", "(did you mean `scale_by_std`?)"),
            ("-4", "invalid value: integer `-4`, expected a whole number, 0 or above"),
            ("evalaution", "(did you mean `evaluation`?)"),
        ],
    );
}

#[test]
fn mistakes_inside_one_component_are_told_together() {
    let terms = "of = [{ type = \"exact-answer\", wieght = 1.0 }, { type = \"cost\", per_trun = 1.0 }, { type = \"cost\", per_turn = -1.0 }]";
    check(
        &[("of = [{ type = \"exact-answer\", weight = 1.0 }]", terms)],
        &[
            ("wieght", "(did you mean `weight`?)"),
            ("per_trun", "(did you mean `per_turn`?)"),
            ("\"cost\", per_turn", "`per_turn` is -1"),
        ],
    );
    check(
        &[("sizes = [1, 2]", "sises = [1, 2]\ndistractors = \"many\"\nfaults = { brokne = 0.1 }")],
        &[("sises", "`sizes`"), ("\"many\"", "invalid type"), ("brokne", "`broken`")],
    );
}

#[test]
fn the_same_mistake_in_two_places_is_told_twice() {
    let terms = "of = [{ type = \"cost\", per_trun = 1.0 }, { type = \"exact-answer\" }, { type = \"cost\", per_trun = 2.0 }]";
    check(
        &[("of = [{ type = \"exact-answer\", weight = 1.0 }]", terms)],
        &[("per_trun = 1.0", "per_trun"), ("per_trun = 2.0", "per_trun")],
    );
}

#[test]
fn a_name_that_is_nothing_like_any_other_hides_nothing_else() {
    check(
        &[
            ("type = \"ledger\"", "type = \"zebra\"\ncolour = 3"),
            ("type = \"grpo\"", "type = \"quagga\"\nstripes = true"),
            ("steps = 3\n", "stepz = 3\n"),
        ],
        &[
            ("\"zebra\"", "unknown world `zebra`"),
            ("\"quagga\"", "unknown credit rule `quagga`"),
            ("stepz", "(did you mean `steps`?)"),
        ],
    );
}

#[test]
fn every_key_that_is_missing_is_told() {
    let told = told(&[("groups = 4\n", ""), ("steps = 3\n", ""), ("name = \"small\"\n", "")]);
    let told: Vec<&str> =
        told.iter().filter_map(|line| line.split_once("missing field ")).map(|(_, key)| key).collect();
    assert_eq!(told, ["`name`", "`steps`", "`groups`"]);
}

/// One mistake each; a second line would be a consequence of the first.
#[test]
fn one_mistake_is_one_error() {
    for (from, to) in [
        ("groups = 4\n", ""),
        ("steps = 3\n", "stepz = 3\n"),
        ("steps = 3\n", "zebra = 3\n"),
        ("groups = 4\n", "groups = \"four\"\n"),
        ("[budget]", "[bugdet]"),
        ("[budget]", "[zebra]"),
        ("[world]\ntype = \"ledger\"", "[world]"),
        ("type = \"ledger\"", "type = \"vault\""),
        ("type = \"ledger\"", "type = 3"),
        ("sizes = [1, 2]", "sizes = []"),
        ("sizes = [1, 2]", "sizes = [99]"),
        ("sizes = [1, 2]", "sizes = [1, \"two\"]"),
        ("of = [{ type = \"exact-answer\", weight = 1.0 }]", "of = []"),
        ("of = [{ type = \"exact-answer\", weight = 1.0 }]", "of = 3"),
        ("of = [{ type = \"exact-answer\", weight = 1.0 }]", "fo = [{ type = \"exact-answer\" }]"),
        ("{ type = \"exact-answer\", weight = 1.0 }", "{ weight = 1.0 }"),
        ("{ type = \"exact-answer\", weight = 1.0 }", "{ type = \"quagga\" }"),
        ("type = \"sum\"", "type = \"smu\""),
        ("type = \"sum\"", "type = \"zebra\""),
        ("type = \"adamw\"", "type = \"adma\""),
        ("type = \"grpo\"", "type = \"grpo\"\nzebra = 1"),
        ("[credit]\ntype = \"grpo\"\n", ""),
        ("[credit]\ntype = \"grpo\"\n", "credit = 4\n"),
        ("group_size = 4", "group_size = 0"),
        ("group_size = 4", "group_size = 1"),
        ("group_size = 4", "group_size = 4000000000"),
        ("max_turns = 3", "max_turns = 3\ntop_p = 0.0"),
        ("max_turns = 3", "max_turns = 3\ntemperature = 0.0"),
        ("vocabulary = 300", "vocabulary = 10"),
        ("context = 256", "context = 16"),
        ("skill = 0.5", "skill = 0.5\nworld = { sises = [1] }"),
        ("skill = 0.5", "skill = 7.0"),
    ] {
        let told = told(&[(from, to)]);
        assert_eq!(told.len(), 1, "`{from}` -> `{to}`: {told:#?}");
    }
}

#[test]
fn combinations_that_do_not_depend_on_each_other_are_told_together() {
    let told = told(&[
        ("name = \"small\"", "name = \"Small one\""),
        ("skill = 0.5", "skill = 7.0"),
        ("group_size = 4", "group_size = 1"),
        ("max_turns = 3", "max_turns = 3\ntop_p = 0.9"),
        ("width = 16", "width = 17"),
    ]);
    assert_eq!(told.len(), 5, "{told:#?}");
    for part in
        ["`Small one`", "`warm_start.skill` is 7", "`budget.group_size` is 1", "`rollout.top_p`", "[model]"]
    {
        assert_eq!(told.iter().filter(|line| line.contains(part)).count(), 1, "{part}: {told:#?}");
    }
}

#[test]
fn every_stage_is_judged_and_none_for_the_mistake_of_another() {
    let stages = "\n[[stages]]\ntype = \"collect\"\ntasks = 0\ninto = \"some\"\n\
                  [[stages]]\ntype = \"imitate\"\nfrom = \"some\"\nsteps = 1\nbatch = 0\nlearning_rate = 1e-3\n\
                  [[stages]]\ntype = \"make\"\nfrom = \"smoe\"\ninto = \"others\"\nkeep = \"solved\"\n";
    let told = told(&[("every = 0", &format!("every = 0\n{stages}"))]);
    assert_eq!(told.len(), 3, "{told:#?}");
    assert!(told[0].contains("`tasks` is 0") && told[1].contains("`batch` is 0"), "{told:#?}");
    assert!(told[2].contains("did you mean `some`?"), "{told:#?}");
}

#[test]
fn a_reward_file_may_name_every_term_and_combinator_that_a_recipe_may() {
    let components = merit_run::built_in();
    let examples = merit_reward::conformance::examples(&components);
    let kinds = ["reward term", "reward combinator"];
    let listed = components.all().iter().filter(|listed| kinds.contains(&listed.kind));
    assert_eq!(listed.count(), examples.len());
    assert!(examples.iter().any(|(name, _)| *name == "judge"), "the judge's term is among them");
    for (name, text) in examples {
        if let Err(error) = reward_file::parse(&format!("{name}.toml"), &text) {
            panic!("{name}: {error}");
        }
    }
}

#[test]
fn a_reward_file_tells_all_too() {
    let text = "type = \"sum\"\nof = [\n  { type = \"exact-answr\" },\n  { type = \"cost\", per_trun = 1.0 },\n  { type = \"cost\", per_turn = \"a\" },\n]\n";
    let error = reward_file::parse("w.toml", text).unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 4, "{error}");
    assert_eq!(lines[0], "3 mistakes in w.toml:");
    let begins = ["w.toml:3:12: ", "w.toml:4:20: ", "w.toml:5:31: "];
    assert!(lines[1..].iter().zip(begins).all(|(line, begin)| line.starts_with(begin)), "{error}");
}

#[test]
fn no_more_than_twenty_are_told() {
    let many: String = (0..40).map(|n| format!("\nzebra{n} = {n}")).collect();
    assert_eq!(told(&[("every = 0", &format!("every = 0{many}"))]).len(), 20);
}

/// Where every key of a document is written, and every value that is no table or list.
#[derive(Default)]
struct Places {
    keys: Vec<Range<usize>>,
    values: Vec<Range<usize>>,
}

impl Places {
    fn table(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            self.keys.push(key.span());
            self.value(value);
        }
    }

    fn value(&mut self, value: &toml::Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) => self.table(table),
            DeValue::Array(items) => items.iter().for_each(|item| self.value(item)),
            _ => self.values.push(value.span()),
        }
    }
}

#[test]
fn one_mistake_anywhere_in_a_shipped_recipe_is_one_error() {
    for (at, shipped) in merit_run::shipped::recipes().iter().enumerate() {
        let mut places = Places::default();
        places.table(DeTable::parse(shipped.text).unwrap().get_ref());
        let misspelt = places.keys.into_iter().map(|key| (key.end..key.end, "zq"));
        let wrong = places.values.into_iter().map(|value| (value, "1979-05-27"));
        // Every sixth one, for time, and others in each recipe: most keys are in many of them.
        for (span, put) in misspelt.chain(wrong).skip(at % 6).step_by(6) {
            let text = format!("{}{put}{}", &shipped.text[..span.start], &shipped.text[span.end..]);
            let line = text[..span.start].matches('\n').count();
            if let Err(error) = Recipe::parse("r.toml", &text) {
                let (error, line) = (error.to_string(), text.lines().nth(line).unwrap());
                assert!(!error.contains(" mistakes in "), "{}: {line}\n{error}", shipped.about.name);
            }
        }
    }
}
