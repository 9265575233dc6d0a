//! Recipes as text: whatever is written, the answer is a recipe or a sentence, never a panic.

use merit_run::Recipe;
use proptest::prelude::*;

const SMALL: &str = include_str!("staged/small.toml");

/// A recipe that was accepted survives being written out and read again.
fn must_be_sound(recipe: &Recipe) {
    let again = Recipe::parse("again.toml", &recipe.to_toml()).unwrap();
    assert_eq!(again.hash(), recipe.hash());
    recipe.disk_bytes();
}

fn keys(table: &toml::Table, prefix: &str, found: &mut Vec<String>) {
    for (key, value) in table {
        found.push(format!("{prefix}{key}"));
        if let toml::Value::Table(inner) = value {
            keys(inner, &format!("{prefix}{key}."), found);
        }
    }
}

/// Every dotted key of the resolved small recipe, and some that are not there by default.
fn all_keys() -> Vec<String> {
    let mut found = Vec::new();
    let resolved = Recipe::parse("small.toml", SMALL).unwrap().to_toml();
    keys(&resolved.parse().unwrap(), "", &mut found);
    found.extend(
        ["world.faults.broken", "learn.objective.kl.coefficient", "nonsense", "budget.nonsense"]
            .map(Into::into),
    );
    found
}

const ODD_VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "1e308",
    "-1e308",
    "inf",
    "nan",
    "9223372036854775807",
    "-9223372036854775808",
    "4294967296",
    "true",
    "''",
    "'grpo'",
    "[]",
    "[[]]",
    "{}",
    "{ type = 'gae' }",
    "1979-05-27",
    "\u{1f600}",
    "\"",
    "=",
    "[1, 'a', {}]",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 700, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_recipe_or_a_sentence(text in "\\PC{0,200}") {
        let error = Recipe::parse("odd.toml", &text).unwrap_err().to_string();
        prop_assert!(error.contains("odd.toml"), "{error}");
    }

    #[test]
    fn a_recipe_with_a_piece_cut_out_or_put_in_is_a_recipe_or_a_sentence(
        from in 0..SMALL.len(), len in 0..60_usize, put in "[-a-z0-9_.=\"'\\[\\]{}, \n]{0,12}",
    ) {
        let (head, rest) = SMALL.split_at(from);
        let text = format!("{head}{put}{}", rest.get(len..).unwrap_or(""));
        match Recipe::parse("odd.toml", &text) {
            Ok(recipe) => must_be_sound(&recipe),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn any_override_gives_a_recipe_or_a_sentence(
        which in prop::sample::select(all_keys()), value in prop::sample::select(ODD_VALUES),
    ) {
        let recipe = Recipe::parse("small.toml", SMALL).unwrap();
        match recipe.with(&[(which.clone(), value.to_owned())]) {
            Ok(changed) => must_be_sound(&changed),
            Err(error) => prop_assert!(error.to_string().contains(&which), "{error}"),
        }
    }
}

#[test]
fn a_value_of_the_wrong_kind_is_told_with_its_key_and_what_it_may_be() {
    let recipe = Recipe::parse("small.toml", SMALL).unwrap();
    for (key, value, words) in [
        (
            "budget.groups",
            "-1",
            "`budget.groups`: invalid value: integer `-1`, expected a whole number, 0 or above",
        ),
        ("budget.groups", "4294967296", "expected a whole number from 0 to 4294967295"),
        (
            "learn.optimiser.lr",
            "\"a\"",
            "`learn.optimiser.lr`: invalid type: string \"a\", expected a number",
        ),
    ] {
        let error = recipe.with(&[(key.to_owned(), value.to_owned())]).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn nesting_without_end_is_refused() {
    let deep = 100_000;
    for (open, close) in [("[", "]"), ("{ type = 'clip', of = ", "}")] {
        let value = format!("{}1{}", open.repeat(deep), close.repeat(deep));
        let text = SMALL.replace(
            "type = \"sum\"\nof = [{ type = \"exact-answer\", weight = 1.0 }]",
            &format!("of = {value}"),
        );
        assert_ne!(text, SMALL);
        let error = Recipe::parse("deep.toml", &text).unwrap_err().to_string();
        assert!(error.starts_with("deep.toml:") && error.contains("recurs"), "{error}");
    }
}

#[test]
fn an_error_in_a_line_of_many_languages_has_its_place_in_characters() {
    let text = SMALL.replace("about = \"hardly any steps\"", "about = \"größer, 大きい, 🦀\" oops");
    let error = Recipe::parse("r.toml", &text).unwrap_err().to_string();
    assert!(error.starts_with("r.toml:4:26: "), "{error}");
}

/// The shipped default with one text replaced, as a file of its own.
fn refusal(from: &str, to: &str) -> String {
    let text = merit_run::shipped::recipes()[0].text;
    assert!(text.contains(from), "the recipe has no `{from}`");
    Recipe::parse("r.toml", &text.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn a_misspelt_key_of_a_control_or_of_the_demonstrations_has_its_place_too() {
    let of_line = |needle: &str| {
        let text = merit_run::shipped::recipes()[0].text;
        text.lines().position(|line| line.contains(needle)).unwrap() + 1
    };
    let control = refusal("tools = false", "tolls = false");
    let line = of_line("tools = false");
    assert!(control.starts_with(&format!("r.toml:{line}:")), "{control}");
    assert!(control.contains("control `no-tool`: unknown field `tolls`"), "{control}");
    assert!(control.ends_with("(did you mean `tools`?)"), "{control}");

    let demonstrated = refusal("world = { sizes", "world = { sises");
    let line = of_line("world = { sizes");
    assert!(demonstrated.starts_with(&format!("r.toml:{line}:")), "{demonstrated}");
    assert!(demonstrated.contains("`warm_start.world`: unknown field `sises`"), "{demonstrated}");
}

#[test]
fn less_time_for_a_call_than_the_tools_own_limit_is_refused_with_both() {
    let with = |tool: &str, given: f64| {
        let text = format!(
            "type = \"tasks\"\nfile = \"tasks.jsonl\"\ntools = [{{ {tool} }}]\ncalls = {{ type = 'fenced' }}"
        );
        let text = SMALL
            .replace("type = \"ledger\"\nsizes = [1, 2]", &text)
            .replace("[rollout]\n", &format!("[rollout]\ntool_seconds = {given:?}\n"));
        Recipe::parse("r.toml", &text).map(drop).map_err(|error| error.to_string())
    };
    let python = "type = 'python', sandbox = { limits = { seconds = 8.0 } }";
    let server = "type = 'mcp', server = { command = ['python3', 'server.py'], timeout_s = 8.0 }";
    let faulty = format!("type = 'faulty', inner = {{ {server} }}");
    for own in [python, server, &faulty, "type = 'sql', script = '', limits = { wall_ms = 8000 }"] {
        let error = with(own, 4.0).unwrap_err();
        assert!(
            error.contains("`rollout.tool_seconds` is 4, but a tool of the world may take 8 s"),
            "{own}: {error}"
        );
        assert!(error.contains("raise the one or lower the tool's own (`seconds`"), "{error}");
        with(own, 8.0).unwrap();
        with(own, 9.0).unwrap();
    }
}

#[test]
fn more_minibatches_than_episodes_are_refused() {
    let overrides =
        |parts| [("budget.groups", "2"), ("budget.group_size", "4"), ("learn.minibatches", parts)];
    assert!(changed(&overrides("8")).is_ok());
    let told = changed(&overrides("9")).unwrap_err();
    assert!(told.contains("`learn.minibatches` is 9, and a step has 8 episodes"), "{told}");
}

/// The small recipe with these overrides.
fn changed(overrides: &[(&str, &str)]) -> Result<Recipe, String> {
    let overrides: Vec<_> = overrides.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    Recipe::parse("small.toml", SMALL).unwrap().with(&overrides).map_err(|error| error.to_string())
}

#[test]
fn named_manners_take_the_place_of_skill_and_only_then_change_the_recipe() {
    let plain = Recipe::parse("small.toml", SMALL).unwrap();
    assert!(!plain.to_toml().contains("manners"), "a recipe without manners keeps its hash");
    let recipe = changed(&[("warm_start.manners", "{ exact = 0.3, hasty = 0.7 }")]).unwrap();
    let warm = recipe.warm_start.as_ref().unwrap();
    assert_eq!((warm.skill, warm.manners["hasty"]), (None, 0.7));
    must_be_sound(&recipe);
}

#[test]
fn manners_that_cannot_be_are_refused_with_the_reason() {
    let check = |overrides: &[(&str, &str)], why: &str| {
        let error = changed(overrides).unwrap_err();
        assert!(error.ends_with(why), "{error}");
    };
    check(
        &[("warm_start.manners", "{ exact = 0.3, hasti = 0.7 }")],
        "`warm_start.manners`: unknown manner `hasti` (did you mean `hasty`?); known: exact, hasty, guesser, careless, sloppy",
    );
    check(
        &[("warm_start.manners", "{ exact = 0.5, hasty = 0.7 }")],
        "the shares of `warm_start.manners` add up to 1.2; they must add up to 1",
    );
    check(
        &[("warm_start.manners", "{ exact = -1.0, hasty = 2.0 }")],
        "`warm_start.manners.exact` is -1; it is a share between 0 and 1",
    );
    check(
        &[("warm_start.manners", "{ exact = 1.0 }"), ("warm_start.skill", "0.5")],
        "`warm_start.manners` and `warm_start.skill` both say how demonstrations are played; remove either",
    );
    check(
        &[("warm_start.manners", "{ exact = 1.0 }"), ("world", "{ type = 'command', command = ['true'] }")],
        "`warm_start.manners`: the demonstrator of world `command` has no manners with names; give `warm_start.skill`",
    );
    let both = "{ type = 'mix', of = [{ name = 'a', world = { type = 'ledger' } }, { name = 'b', world = { type = 'sums' } }] }";
    check(
        &[("warm_start.manners", "{ guesser = 1.0 }"), ("world", both)],
        "`warm_start.manners`: unknown manner `guesser`; known: exact, hasty",
    );
    check(
        &[
            ("warm_start.manners", "{ exact = 1.0 }"),
            ("roles.teacher", "{ type = 'embedded', file = 'm.gguf' }"),
        ],
        "`warm_start.manners` are those of the world's own demonstrator, and `roles.teacher` is a model, which has its own; \
         remove either",
    );
}

#[test]
fn a_learning_rate_may_be_called_lr_and_the_other_way_round() {
    let written = |warm: &str, learn: &str| {
        let text = SMALL.replace("learning_rate = 1e-2", warm).replace("lr = 1e-2, clip", learn);
        Recipe::parse("r.toml", &text).map_err(|why| why.to_string())
    };
    let ours = Recipe::parse("small.toml", SMALL).unwrap();
    let others = written("lr = 1e-2", "learning_rate = 1e-2, clip").unwrap();
    assert_eq!(others.hash(), ours.hash());
    let twice = written("lr = 1e-2\nlearning_rate = 1e-2", "lr = 1e-2, clip").unwrap_err();
    assert!(twice.contains("duplicate field `learning_rate`"), "{twice}");
    let twice = written("learning_rate = 1e-2", "lr = 1e-2, learning_rate = 1e-2, clip").unwrap_err();
    assert!(twice.contains("duplicate field `lr`"), "{twice}");
    for (one, other) in [
        ("warm_start.learning_rate", "warm_start.lr"),
        ("learn.optimiser.lr", "learn.optimizer.learning_rate"),
    ] {
        let changed = |key: &str| ours.with(&[(key.to_owned(), "3e-3".to_owned())]).unwrap().hash();
        assert_eq!(changed(one), changed(other));
        assert_ne!(changed(one), ours.hash());
    }
}

#[test]
fn stages_may_call_it_so_too_and_refuse_both_at_once() {
    const BEFORE: &str = "[[stages]]\ntype = 'collect'\ninto = 'tries'\ntasks = 4\n\
                          [[stages]]\ntype = 'make'\nfrom = 'tries'\ninto = 'two'\nkeep = 'pairs'\n";
    for table in [
        "[interleave]\nwhen = { type = 'alternate', reward = 1 }",
        "[[stages]]\ntype = 'imitate'\nfrom = 'demonstrations'",
        &format!("{BEFORE}[[stages]]\ntype = 'imitate'\nfrom = 'tries'\nsteps = 1\nbatch = 1"),
        &format!(
            "{BEFORE}[[stages]]\ntype = 'prefer'\nfrom = 'two'\nobjective = 'dpo'\nsteps = 1\nbatch = 1"
        ),
        &format!(
            "[models.reward]\nlike = 'policy'\n{BEFORE}[[stages]]\ntype = 'fit'\nmodel = 'reward'\nfrom = 'two'\nloss = 'bradley-terry'\nsteps = 1\nbatch = 1"
        ),
    ] {
        let read = |rate: &str| Recipe::parse("r.toml", &format!("{SMALL}\n{table}\n{rate}"));
        read("learning_rate = 1e-3").unwrap_or_else(|why| panic!("{table}: {why}"));
        read("lr = 1e-3").unwrap_or_else(|why| panic!("{table}: {why}"));
        let twice = read("lr = 1e-3\nlearning_rate = 1e-3").unwrap_err().to_string();
        assert!(twice.contains("duplicate field `learning_rate`"), "{table}: {twice}");
    }
}
