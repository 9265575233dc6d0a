//! Stages that cannot be done are refused with the reason, before anything is opened.

use crate::whole::small_and;

fn check(stages: &str, want: &str) {
    let error = small_and(stages).unwrap_err().to_string();
    assert!(error.contains(want), "{error}\nhas not: {want}");
}

const COLLECT: &str = "[[stages]]\ntype = 'collect'\ninto = 'tries'\ntasks = 4\n";

fn after_collecting(stage: &str, want: &str) {
    check(&format!("{COLLECT}[[stages]]\n{stage}"), want);
}

#[test]
fn a_dataset_that_nobody_wrote_is_refused_with_the_nearest_name() {
    after_collecting(
        "type = 'make'\nfrom = 'trise'\ninto = 'good'\nkeep = 'solved'",
        "stage `make:good`: `from = \"trise\"`: no stage before it writes such a dataset (did you mean `tries`?)",
    );
    check(
        "[[stages]]\ntype = 'imitate'\nfrom = 'tries'\nsteps = 1\nbatch = 1\nlearning_rate = 1e-3",
        "stage `imitate:tries`: `from = \"tries\"`: no stage before it writes such a dataset",
    );
}

#[test]
fn a_dataset_of_the_wrong_kind_is_refused() {
    after_collecting(
        "type = 'prefer'\nfrom = 'tries'\nobjective = { type = 'dpo' }\nsteps = 1\nbatch = 1\nlearning_rate = 1e-3",
        "holds episodes, and pairs are needed; make them with `keep = \"pairs\"`",
    );
    after_collecting(
        "type = 'make'\nfrom = 'tries'\ninto = 'two'\nkeep = 'pairs'\n[[stages]]\ntype = 'imitate'\nfrom = 'two'\nsteps = 1\nbatch = 1\nlearning_rate = 1e-3",
        "holds pairs, the worse of which nobody should imitate",
    );
}

#[test]
fn practice_and_quantiles_that_mean_nothing_are_refused() {
    check(&format!("{COLLECT}practice = {{ fixed = 0 }}\n"), "`practice.fixed` is 0; it must be at least 1");
    check(&format!("{COLLECT}practice = {{ proposed = 'some' }}\n"), "unknown variant `some`");
    after_collecting(
        "type = 'make'\nfrom = 'tries'\ninto = 'short'\nkeep = { shortest = 1.0 }",
        "`keep.shortest` is 1; it is a share between 0 and 1",
    );
}

#[test]
fn unknown_keys_are_refused_with_the_nearest() {
    check(&COLLECT.replace("tasks", "taks"), "unknown field `taks`");
    check("[[stages]]\ntype = 'imitate'\nfrom = 'demonstrations'\nskil = 0.5", "unknown field `skil`");
    check("[[stages]]\ntype = 'colect'", "unknown variant `colect`");
    check("[[stages]]\ntype = 'learn'\nset = { world = { sises = [1] } }", "unknown field `sises`");
    check(
        "[[stages]]\ntype = 'learn'\nset = { model = { width = 8 } }",
        "`set` holds `model`; here it may hold world, ",
    );
    check("[[stages]]\ntype = 'evaluate'\nname = 'x'\nset = { reward = {} }", "`set` holds `reward`");
    after_collecting(
        "type = 'make'\nfrom = 'tries'\ninto = 'good'\nkeep = 'sloved'",
        "unknown variant `sloved`",
    );
    after_collecting(
        "type = 'imitate'\nfrom = 'tries'\nsteps = 1\nbatch = 1",
        "missing field `learning_rate`",
    );
    after_collecting(
        "type = 'imitate'\nfrom = 'tries'\nsteps = 1\nbatch = 1\nlearning_rate = 1e-3\nskill = 0.4",
        "unknown field `skill`",
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would() {
    let learn = "[[stages]]\ntype = 'learn'\n";
    check(
        &format!("{learn}{learn}"),
        "stage `train`: another stage is called so too; give one of them a `name`",
    );
    check("[[stages]]\ntype = 'learn'\nname = 'A b'", "lower-case letters, digits and `-`");
    check(&COLLECT.replace("'tries'", "'demonstrations'"), "cannot be a dataset's name");
    check(&COLLECT.replace('4', "0"), "`tasks` is 0; it must be at least 1");
    check("[[stages]]\ntype = 'repeat'\ntimes = 0\nstages = []", "needs `times` of at least 1");
    check(
        "[[stages]]\ntype = 'repeat'\ntimes = 1\nstages = [{ type = 'repeat', times = 1, stages = [{ type = 'learn' }] }]",
        "one level is all there is",
    );
    check(
        "[[stages]]\ntype = 'learn'\nset = { rollout = { temperature = 0.0 } }",
        "`rollout.temperature` is 0",
    );
    check("[[stages]]\ntype = 'evaluate'\nname = 'x'\ntemperature = 0.7", "`temperature` is for `samples`");
    after_collecting(
        "type = 'make'\nfrom = 'tries'\ninto = 'two'\nkeep = 'pairs'\n[[stages]]\ntype = 'prefer'\nfrom = 'two'\nobjective = { type = 'policy-gradient' }\nsteps = 1\nbatch = 1\nlearning_rate = 1e-3",
        "objective `policy-gradient` does not learn from pairs and a reference policy; `dpo` and `kto` do",
    );
    check(
        &format!(
            "{learn}[[controls]]\nname = 'no-tool'\nabout = ''\nset = {{ world = {{ tools = false }} }}"
        ),
        "a recipe with `[[stages]]` has no controls",
    );
}

#[test]
fn a_misspelt_key_of_a_stage_has_its_place() {
    let error =
        small_and("[[stages]]\ntype = 'learn'\nset = { world = { sises = [1] } }").unwrap_err().to_string();
    let line = crate::staged::SMALL.lines().count() + 4;
    assert!(error.starts_with(&format!("small.toml:{line}:")), "{error}");
    assert!(error.contains("stage `train`: "), "{error}");
}
