//! A system file is refused with its place and the nearest name, or every arm of it can run.

use merit_lab::System;

pub(crate) const FILE: &str = r#"
name = "small"
about = "a small system"
paper = "Nobody (2026)"
scope = "nothing was replaced"
confidence = "full text"
seeds = 3

[experiment]
type = "knapsack-composer"

[[arms]]
name = "one"
role = "method"
about = "as it is"

[[arms]]
name = "two"
role = "baseline"
about = "the same"

[[claims]]
says = "they are alike"
measure = "success"
arm = "one"
against = "two"
within = 0.1
"#;

fn refused(change: impl Fn(&str) -> String) -> String {
    System::parse("small.toml", &change(FILE)).unwrap_err().to_string()
}

#[test]
fn a_file_as_the_documents_show_it_is_read() {
    let system = System::parse("small.toml", FILE).unwrap();
    assert_eq!((system.parts.len(), system.parts[0].arms.len(), system.parts[0].seeds), (1, 2, 3));
}

#[test]
fn what_is_misspelt_is_named_with_its_place_and_the_nearest() {
    let unknown = refused(|file| file.replace("against = \"two\"", "against = \"tow\""));
    assert!(unknown.contains("names an arm `tow` that there is not (did you mean `two`?)"), "{unknown}");
    let unknown = refused(|file| file.replace("seeds = 3", "seed = 3"));
    assert!(unknown.starts_with("small.toml:7:1: unknown field `seed`"), "{unknown}");
    let unknown = refused(|file| file.replace("knapsack-composer", "knapsack-compser"));
    assert!(
        unknown.contains("small.toml") && unknown.contains("did you mean `knapsack-composer`?"),
        "{unknown}"
    );
    let unknown = refused(|file| format!("{file}\n[smoke]\nno_such_setting = 1\n"));
    assert!(unknown.contains("unknown field `no_such_setting`"), "{unknown}");
}

#[test]
fn what_cannot_be_tested_is_refused_in_words() {
    let cases = [
        ("within = 0.1", "", "exactly one of `value`, `difference`, `ratio` and `within`"),
        ("against = \"two\"\n", "", "compares, so that it needs `against`"),
        ("within = 0.1", "difference = {}", "needs `at_least` or `at_most`"),
        ("measure = \"success\"", "measure = { reach = \"c\", level = 1.0 }", "`measure.axis` is missing"),
        ("name = \"two\"", "name = \"one\"", "has two arms `one`"),
        ("within = 0.1", "within = 0.1\nrequired = false", "no required claim"),
        ("within = 0.1", "within = 0.1\ntimes = 0.5", "only for `difference`"),
        (
            "against = \"two\"\nwithin = 0.1",
            "against_measure = \"x\"\nvalue = { at_least = 0.1 }",
            "needs `against`",
        ),
        ("about = \"the same\"", "about = \"the same\"\ncore = false", "rests on `two`, which is not `core`"),
    ];
    for (from, to, why) in cases {
        let refused = refused(|file| file.replace(from, to));
        assert!(refused.contains(why), "{from} -> {to}: {refused}");
    }
}

#[test]
fn the_hash_follows_whatever_decides_the_result() {
    let hash = |file: &str| System::parse("small.toml", file).unwrap().hash();
    let was = hash(FILE);
    assert_eq!(was, hash(&FILE.replace("about = \"as it is\"", "about = \"in other words\"")));
    for (from, to) in
        [("within = 0.1", "within = 0.2"), ("seeds = 3", "seeds = 4"), ("name = \"two\"", "name = \"tow\"")]
    {
        let file = FILE.replace(from, to).replace(
            "against = \"two\"",
            if to.contains("tow") { "against = \"tow\"" } else { "against = \"two\"" },
        );
        assert_ne!(was, hash(&file), "{to}");
    }
}
