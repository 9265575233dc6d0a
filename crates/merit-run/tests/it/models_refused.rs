//! Models and stages that cannot be what a recipe says, refused with the reason and the nearest name.

use crate::whole::small_and;

fn check(text: &str, want: &str) {
    let error = small_and(text).unwrap_err().to_string();
    assert!(error.contains(want), "{error}\nhas not: {want}");
}

const HEAD: &str = "[models.reward]\nlike = 'policy'\n[[stages]]\ntype = 'collect'\ninto = 'tries'\ntasks = 4\n\
                    [[stages]]\ntype = 'make'\nfrom = 'tries'\ninto = 'pairs'\nkeep = 'pairs'\n";
const FIT: &str = "[[stages]]\ntype = 'fit'\nmodel = 'reward'\nfrom = 'pairs'\nloss = 'bradley-terry'\nsteps = 1\nbatch = 1\nlearning_rate = 1e-3\n";

fn fitting(from: &str, to: &str, want: &str) {
    check(&format!("{HEAD}{}", FIT.replace(from, to)), want);
}

#[test]
fn a_model_that_nobody_named_is_refused_with_the_nearest() {
    fitting(
        "'reward'",
        "'rewrad'",
        "stage `fit:rewrad`: `model = \"rewrad\"`: there is no `[models.rewrad]` (did you mean `reward`?)",
    );
    let chosen = "[[stages]]\ntype = 'evaluate'\nname = 'x'\nsamples = 2\nselect = { by = 'rewad' }";
    check(
        &format!("{HEAD}{FIT}{chosen}"),
        "`select.by = \"rewad\"`: there is no `[models.rewad]` (did you mean `reward`?)",
    );
}

#[test]
fn a_dataset_that_the_loss_cannot_read_is_refused() {
    fitting("'pairs'", "'tries'", "holds episodes, and pairs are needed");
    fitting("'bradley-terry'", "'token'", "holds pairs, and this loss reads the outcome of every episode");
    fitting("'pairs'", "'pears'", "(did you mean `pairs`?)");
}

#[test]
fn settings_of_a_fit_that_mean_nothing_are_refused() {
    fitting("steps = 1", "steps = 0", "`steps` is 0");
    fitting("batch = 1", "batch = 0", "`batch` is 0");
    fitting("1e-3", "0.0", "`learning_rate` is 0");
    fitting("1e-3", "1e-3\nheld_out = 1.0", "`held_out` is 1; it is a share of the tasks between 0 and 1");
    fitting("'bradley-terry'", "'bradley'", "unknown variant `bradley`");
    fitting("1e-3", "1e-3\nheldout = 0.1", "unknown field `heldout`");
}

#[test]
fn a_model_that_learned_nothing_yet_is_not_asked() {
    let chosen = "[[stages]]\ntype = 'evaluate'\nname = 'x'\nsamples = 2\nselect = { by = 'reward' }\n";
    check(
        &format!("{HEAD}{chosen}{FIT}"),
        "stage `evaluate:x`: `select.by = \"reward\"`: no stage before it fits this model",
    );
    let learn = "[[stages]]\ntype = 'learn'\nset = { reward = { type = 'sum', of = [{ type = 'annotation', key = 'reward' }, { type = 'exact-answer', weight = 0.0 }] } }\n";
    check(
        &format!("{HEAD}{learn}{FIT}"),
        "stage `train`: `reward: key = \"reward\"`: no stage before it fits this model",
    );
    check(
        &format!("{HEAD}{FIT}{}", chosen.replace("samples = 2", "samples = 1")),
        "give `samples` of at least 2",
    );
}

#[test]
fn models_that_cannot_be_are_refused() {
    check("[models.reward]\nlike = 'policy'", "[models.reward] needs `[[stages]]`");
    check("[models.reward]\nlike = 'policy'\n[[stages]]\ntype = 'learn'", "[models.reward] no stage fits it");
    check(
        &format!("{}{FIT}", HEAD.replace("models.reward", "models.policy")),
        "`policy` means something else",
    );
    check(&format!("{}{FIT}", HEAD.replace("'policy'", "'teacher'")), "unknown variant `teacher`");
    check(&format!("{}{FIT}", HEAD.replace("like =", "lke =")), "unknown field `lke`");
    let token = FIT
        .replace("bradley-terry", "token")
        .replace("'pairs'", "'tries'")
        .replace("'fit'", "'fit'\nname = 'second'");
    check(
        &format!("{HEAD}{FIT}{token}"),
        "stage `fit:second`: model `reward` is read by a scalar head in an earlier stage and by the chance of a token here",
    );
}

const TWO: &str = "[[stages]]\ntype = 'learn'\nname = 'left'\n[[stages]]\ntype = 'learn'\nname = 'right'\n";

#[test]
fn stages_that_were_not_done_before_are_refused_with_the_nearest() {
    let merge = |rest: &str| format!("{TWO}[[stages]]\ntype = 'merge'\n{rest}");
    check(
        &merge("of = [{ stage = 'left' }, { stage = 'rihgt' }]"),
        "stage `merge:merged`: `of = \"rihgt\"`: no stage before it that changes the policy is called so (did you mean `right`?)",
    );
    check(&merge("of = [{ stage = 'left' }]"), "fewer than two stages");
    check(
        &merge("of = [{ stage = 'left' }, { stage = 'right' }]\nbase = 'left'"),
        "`base` is for `mode = \"task-arithmetic\"`",
    );
    check(
        &merge("mode = 'task-arithmetic'\nof = [{ stage = 'left' }, { stage = 'right' }]"),
        "name the stage they are taken from in `base`",
    );
    check(&merge("of = [{ stage = 'left', weight = -1.0 }, { stage = 'right' }]"), "must not be negative");
    check(
        &format!("[[stages]]\ntype = 'learn'\nstart = 'left'\n{TWO}"),
        "`start = \"left\"`: no stage before it",
    );
    let same = "[[stages]]\ntype = 'imitate'\nname = 'left'\nfrom = 'demonstrations'\n";
    check(
        &format!("{TWO}{same}[[stages]]\ntype = 'learn'\nstart = 'left'"),
        "could be learn:left or imitate:left; say which",
    );
}

#[test]
fn a_repeat_without_an_evaluation_to_watch_is_refused() {
    let repeat = |until: &str| {
        format!(
            "[[stages]]\ntype = 'repeat'\ntimes = 2\nuntil = {until}\nstages = [{{ type = 'learn' }}, {{ type = 'evaluate', name = 'round' }}]"
        )
    };
    check(
        &repeat("{ metric = 'success', of = 'ruond', patience = 1 }"),
        "no evaluation among the repeated stages is called so (did you mean `round`?)",
    );
    check(&repeat("{ metric = 'success', of = 'round', patience = 0 }"), "`until.patience` is 0");
    check(
        &repeat("{ metric = 'success', of = 'round', patience = 1, min_delta = -0.1 }"),
        "`until.min_delta` is -0.1",
    );
}

#[test]
fn a_bag_of_words_has_no_token_behind_it_and_no_start() {
    let bag = HEAD.replace("like = 'policy'", "like = 'bag'");
    let fit = FIT.replace("'pairs'", "'tries'").replace("'bradley-terry'", "'token'");
    check(&format!("{bag}{fit}"), "model `reward` is a bag of words, behind which no token can stand");
    for start in ["fresh", "policy"] {
        let said = bag.replace("like = 'bag'", &format!("like = 'bag'\nstart = '{start}'"));
        check(&format!("{said}{FIT}"), "[models.reward] a bag of words always begins fresh");
    }
}
