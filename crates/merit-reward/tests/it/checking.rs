//! What the checker of rewards finds: one reward for each finding, which triggers it and nothing else of that weight.

use crate::episodes::{Did, episode};
use merit_core::CallEnd;
use merit_core::registry::Components;
use merit_reward::WarningKind::*;
use merit_reward::{
    RewardConfig, Severity, TERMS, Warning, WarningKind, check, check_with, conformance, register,
};

fn findings(toml: &str) -> Vec<Warning> {
    let config: RewardConfig = RewardConfig::from_toml(toml).unwrap_or_else(|e| panic!("{toml}: {e}"));
    check(&config).unwrap_or_else(|e| panic!("{toml}: {e}"))
}

/// The reward has exactly these findings. Pay for show is looked for only where it is wanted: calls that work are paid in most
/// of these rewards.
fn finds(toml: &str, want: &[(WarningKind, Severity, &str)]) {
    let mut found = findings(toml);
    let wanted = want.iter().any(|(kind, ..)| *kind == PaysForShow);
    found.retain(|warning| wanted || warning.kind != PaysForShow);
    let got: Vec<(WarningKind, Severity, &str)> =
        found.iter().map(|w| (w.kind, w.severity, w.at.as_str())).collect();
    assert_eq!(got, want, "{toml}\n{found:#?}");
}

/// A sound part to set others beside: right answers are paid, nothing else is.
const ANSWER: &str = "{ type = 'exact-answer' }";

#[test]
fn a_sound_reward_has_no_finding() {
    finds("type = 'exact-answer'", &[]);
    finds(&format!("type = 'gate'\nwhen = {ANSWER}\nat_least = 1\nthen = {{ type = 'format' }}"), &[]);
}

#[test]
fn a_gate_that_can_never_open_is_found() {
    // A share is at most 1.
    let gate = format!(
        "type = 'sum'\nof = [{ANSWER}, {{ type = 'gate', when = {{ type = 'tool-success' }}, at_least = 1.5, then = {{ type = 'format' }} }}]"
    );
    finds(&gate, &[(NeverOpens, Severity::Warning, "reward.of[1]")]);
    assert!(findings(&gate)[0].what.contains("`format`"), "the lost terms are named");
}

#[test]
fn a_gate_by_name_looks_at_the_raw_value() {
    // The weight of 3 moves no threshold: the raw value is at most 1.
    let gate = "type = 'sum'\nof = [{ type = 'exact-answer', weight = 3 }, { type = 'gate', when = 'exact-answer', at_least = 2, then = { type = 'tool-success' } }]";
    finds(gate, &[(NeverOpens, Severity::Warning, "reward.of[1]")]);
}

#[test]
fn a_gate_that_is_always_open_is_found() {
    // A share is at least 0.
    let gate = "type = 'gate'\nwhen = { type = 'tool-success' }\nat_least = 0\nthen = { type = 'exact-answer' }\notherwise = { type = 'cost', per_turn = 0.1 }";
    finds(gate, &[(AlwaysOpen, Severity::Warning, "reward")]);
    assert!(findings(gate)[0].what.contains("`reward.otherwise` (`cost`)"));
}

#[test]
fn vetoes_that_never_or_always_fall_are_found() {
    let veto = |bound: &str| {
        format!("type = 'veto'\nwhen = {{ type = 'format' }}\n{bound}\nvalue = 0\nthen = {ANSWER}")
    };
    finds(&veto("below = 0"), &[(NeverVetoes, Severity::Warning, "reward")]);
    finds(&veto("above = 1"), &[(NeverVetoes, Severity::Warning, "reward")]);
    finds(&veto("at_least = 1.01"), &[(NeverVetoes, Severity::Warning, "reward")]);
    finds(&veto("at_most = 0.5"), &[]);
    finds(&veto("at_most = 1"), &[(AlwaysVetoes, Severity::Warning, "reward")]);
}

#[test]
fn tiers_stages_and_items_that_can_never_be_reached_are_found() {
    let tiers = format!(
        "type = 'lexicographic'\ntiers = [{{ of = {{ type = 'tool-success', weight = 0.5 }}, pass = 0.8 }}, {{ of = {ANSWER} }}]"
    );
    finds(&tiers, &[(Unreachable, Severity::Warning, "reward.tiers[0].of")]);
    let stages = format!(
        "type = 'staged'\nby = 'mastery'\ncarry = true\nstages = [{{ of = {ANSWER}, mastered_at = 1.2 }}, {{ of = {{ type = 'tool-success' }} }}]"
    );
    finds(&stages, &[(Unreachable, Severity::Warning, "reward.stages[0].of")]);
    let steps = format!(
        "type = 'staged'\nby = 'step'\ncarry = false\nstages = [{{ of = {{ type = 'tool-success' }}, until_step = 0 }}, {{ of = {ANSWER} }}]"
    );
    finds(&steps, &[(Unreachable, Severity::Warning, "reward.stages[0].of")]);
    let items = format!(
        "type = 'checklist'\nitems = [{{ name = 'a', check = {{ type = 'tool-success' }}, at_least = 2 }}, {{ name = 'b', check = {ANSWER}, needs = ['a'] }}, {{ name = 'c', check = 'exact-answer' }}]"
    );
    finds(&items, &[(Unreachable, Severity::Warning, "reward.items[0]")]);
    assert!(findings(&items)[0].what.contains("`reward.items[1]`"));
    let router = format!(
        "type = 'router'\nby = 'split'\nroutes = {{ train = {ANSWER}, held-out = {{ type = 'exact-answer', name = 'held' }} }}\notherwise = {{ type = 'format' }}"
    );
    finds(&router, &[(Unreachable, Severity::Warning, "reward.otherwise")]);
}

#[test]
fn a_rubric_whose_veto_or_gate_decides_nothing_is_found() {
    let axes = |veto: &str, gate: &str| {
        format!(
            "type = 'rubric'\naxes = [{{ name = 'tools', of = {{ type = 'tool-success' }}{veto} }}, {{ name = 'answer', of = {ANSWER} }}]\n{gate}"
        )
    };
    finds(&axes("", ""), &[]);
    finds(
        &axes(", veto_below = 0, veto_value = -1", ""),
        &[(NeverVetoes, Severity::Warning, "reward.axes[0]")],
    );
    finds(&axes("", "gate = { axis = 'tools', at_least = 0 }"), &[(AlwaysOpen, Severity::Warning, "reward")]);
}

#[test]
fn a_part_that_loses_what_its_terms_say_is_found() {
    // Costs are at most 0, so clipping them to [0, 1] leaves 0.
    let clip = format!(
        "type = 'sum'\nof = [{ANSWER}, {{ type = 'clip', low = 0, high = 1, of = {{ type = 'cost', per_turn = 1 }} }}]"
    );
    finds(&clip, &[(Flat, Severity::Warning, "reward.of[1]")]);
    let product = format!(
        "type = 'sum'\nof = [{ANSWER}, {{ type = 'product', of = [{{ type = 'tool-success' }}, {{ type = 'format', weight = 0 }}] }}]"
    );
    finds(&product, &[(Flat, Severity::Warning, "reward.of[1]")]);
    let schedule = format!(
        "type = 'sum'\nof = [{ANSWER}, {{ type = 'schedule', of = {{ type = 'format' }}, from = 0, to = 0, start_step = 0, end_step = 9 }}]"
    );
    finds(&schedule, &[(Flat, Severity::Warning, "reward.of[1]")]);
}

#[test]
fn a_term_without_weight_is_idle_unless_something_looks_at_it() {
    finds(
        &format!("type = 'sum'\nof = [{ANSWER}, {{ type = 'format', weight = 0 }}]"),
        &[(IdleTerm, Severity::Hint, "reward.of[1]")],
    );
    let gated = "type = 'sum'\nof = [{ type = 'exact-answer', weight = 0 }, { type = 'gate', when = 'exact-answer', at_least = 1, then = { type = 'format' } }]";
    finds(gated, &[]);
}

#[test]
fn parts_of_very_different_scale_are_found() {
    finds(
        "type = 'sum'\nof = [{ type = 'exact-answer', weight = 30 }, { type = 'tool-success' }]",
        &[(ScaleMismatch, Severity::Warning, "reward")],
    );
    finds("type = 'sum'\nof = [{ type = 'exact-answer', weight = 20 }, { type = 'tool-success' }]", &[]);
}

#[test]
fn a_part_without_bounds_beside_bounded_ones_is_found() {
    // A negative weight turns a cost into pay without a bound.
    let paid_cost =
        format!("type = 'sum'\nof = [{ANSWER}, {{ type = 'cost', per_call = 0.1, weight = -1 }}]");
    finds(&paid_cost, &[(Unbounded, Severity::Warning, "reward.of[1]")]);
    let clipped = format!(
        "type = 'sum'\nof = [{ANSWER}, {{ type = 'clip', low = 0, high = 0.2, of = {{ type = 'cost', per_call = 0.1, weight = -1 }} }}]"
    );
    finds(&clipped, &[]);
}

#[test]
fn a_sum_over_turns_that_nothing_caps_is_found() {
    let farm = "{ type = 'per-turn', reduce = 'sum', of = { type = 'tool-success' } }";
    finds(
        &format!("type = 'sum'\nof = [{ANSWER}, {farm}]"),
        &[(Farmable, Severity::Warning, "reward.of[1]")],
    );
    finds(
        &format!("type = 'sum'\nof = [{ANSWER}, {{ type = 'clip', low = 0, high = 1, of = {farm} }}]"),
        &[],
    );
}

#[test]
fn pay_for_form_alone_is_found() {
    // An empty but well-formed message gets 0.1.
    let form = format!("type = 'sum'\nof = [{ANSWER}, {{ type = 'format', weight = 0.1 }}]");
    finds(&form, &[(PaysNothing, Severity::Warning, "reward")]);
}

#[test]
fn doing_nothing_that_is_paid_like_a_right_answer_is_an_error() {
    // 8 tokens cost 0.8 and a turn 0.5: a right answer gets 1 − 1.3, an episode without a turn 0.
    let dear = "type = 'sum'\nof = [{ type = 'exact-answer' }, { type = 'clip', low = -3, high = 0, of = { type = 'cost', per_token = 0.1, per_turn = 0.5 } }]";
    let found = findings(dear);
    assert_eq!((found[0].kind, found[0].severity), (PaysNothing, Severity::Error), "{found:#?}");
}

#[test]
fn a_penalty_for_trying_is_found() {
    // A call and an answer cost 0.4 and earn 1 where right: below 0.4 / 1.4 = 28.6 % it pays to stay silent.
    let stop = format!(
        "type = 'sum'\nof = [{ANSWER}, {{ type = 'clip', low = -1, high = 0, of = {{ type = 'cost', per_turn = 0.2 }} }}]"
    );
    finds(&stop, &[(PaysToStop, Severity::Warning, "reward")]);
    // −0.02 for a try, 1.0 − 0.01 for a right answer: below 0.02 / 1.01 = 2 %.
    let slight = stop.replace("0.2", "0.01");
    finds(&slight, &[(PaysToStop, Severity::Hint, "reward")]);
    assert!(findings(&slight)[0].why.contains("2.0%"), "{:?}", findings(&slight));
}

#[test]
fn pay_for_a_mere_call_for_length_or_for_any_json_is_found() {
    let beside = |part: &str| format!("type = 'sum'\nof = [{ANSWER}, {part}]");
    finds(&beside("{ type = 'tool-success', weight = 0.1 }"), &[(PaysForShow, Severity::Hint, "reward")]);
    finds(&beside("{ type = 'tool-success', weight = 0.5 }"), &[(PaysForShow, Severity::Warning, "reward")]);
    let gated =
        beside("{ type = 'gate', when = 'exact-answer', at_least = 1, then = { type = 'tool-success' } }");
    finds(&gated, &[]);
    let long = beside(
        "{ type = 'length', weight = 0.5, unit = 'words', min = 100, max = 100000, decay = 10, reading = 'answer' }",
    );
    let found = findings(&long);
    assert!(found.iter().any(|w| w.kind == PaysForShow && w.what.contains("long answer")), "{found:#?}");
}

#[test]
fn samples_show_what_never_moves() {
    let config: RewardConfig =
        RewardConfig::from_toml(&format!("type = 'sum'\nof = [{ANSWER}, {{ type = 'tool-success' }}]"))
            .unwrap();
    let right = || episode(Some("7"), 3, &[Did::Calls(&[CallEnd::Ok]), Did::Answers("7")]);
    let wrong = episode(Some("7"), 3, &[Did::Calls(&[CallEnd::Ok]), Did::Answers("8")]);
    let kinds = |samples: &[merit_core::Episode]| -> Vec<(WarningKind, String)> {
        check_with(&config, samples).unwrap().into_iter().map(|w| (w.kind, w.at)).collect()
    };
    let found = kinds(&[right(), wrong]);
    assert_eq!(found, [(PaysForShow, "reward".to_owned()), (NeverMoves, "reward.of[1]".to_owned())]);
    let same = kinds(&[right(), right()]);
    assert!(same.contains(&(NoSignal, "reward".to_owned())), "{same:?}");
}

#[test]
fn samples_show_a_term_that_cannot_judge_and_the_reason() {
    let absent = "{ type = 'command', command = ['no-such-scorer'], timeout_s = 5 }";
    let toml = format!("type = 'sum'\nof = [{ANSWER}, {absent}]");
    let config = RewardConfig::from_toml(&toml).unwrap();
    let sample = episode(Some("7"), 3, &[Did::Answers("7")]);
    let found = check_with(&config, &[sample]).unwrap();
    let told = found.iter().find(|warning| warning.kind == CannotJudge).unwrap();
    assert_eq!((told.severity, told.at.as_str()), (Severity::Warning, "reward.of[1]"));
    assert!(
        told.what.contains("cannot judge 1 of 1 samples: ") && told.what.contains("no-such-scorer"),
        "{told}"
    );
}

#[test]
fn a_reward_that_does_not_compile_is_not_checked() {
    let config: RewardConfig = RewardConfig::from_toml("type = 'sum'\nof = []").unwrap();
    assert_eq!(
        check(&config).unwrap_err().to_string(),
        "reward, at `reward`: `sum` has no parts; list at least one in `of`"
    );
}

#[test]
fn findings_survive_saving_and_read_as_sentences() {
    let found =
        findings("type = 'sum'\nof = [{ type = 'exact-answer', weight = 30 }, { type = 'tool-success' }]");
    let saved = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Warning>>(&saved).unwrap(), found);
    let text = found[0].to_string();
    assert!(text.starts_with("warning, at `reward`: `reward.of[0]` drowns `reward.of[1]` ("), "{text}");
}

#[test]
fn no_registered_example_pays_for_doing_nothing_what_it_pays_for_being_right() {
    let terms: Vec<&str> = TERMS.iter().map(|term| term.about.name).collect();
    for (name, example) in conformance::examples(&register(Components::default())) {
        // Terms that look at form alone say that they belong behind the outcome.
        let example = if terms.contains(&name) { behind_success(&example) } else { example };
        let errors: Vec<Warning> = findings(&example)
            .into_iter()
            .filter(|w| w.severity == Severity::Error && w.kind != PaysForShow)
            .collect();
        // The control that hands out other episodes' rewards has to be found out.
        assert_eq!(errors.is_empty(), name != "shuffled", "{name}: {errors:#?}");
    }
}

fn behind_success(term: &str) -> String {
    let mut sum: toml::Table = toml::from_str(
        "type = 'sum'\nof = [{ type = 'exact-answer', name = 'success', weight = 2.0 }, \
         { type = 'gate', when = 'success', at_least = 1, then = {} }]",
    )
    .unwrap();
    sum["of"][1]["then"] = toml::from_str::<toml::Table>(term).unwrap().into();
    toml::to_string(&sum).unwrap()
}
