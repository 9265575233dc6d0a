//! What rewards come to, on small episodes whose scores can be worked out by hand.

use crate::episodes::{Did, broken, episode};
use merit_core::{CallEnd, Episode, Outcome, Reward, Score, TermOutcome};
use merit_reward::{RewardConfig, RewardState, ScoreContext, ScoredTogether, Scorer, TermSummary};
use std::sync::Arc;

const OK: CallEnd = CallEnd::Ok;
const NO: CallEnd = CallEnd::Refused;

fn scorer(toml: &str) -> Scorer {
    let config: RewardConfig = RewardConfig::from_toml(toml).unwrap();
    Scorer::compile(&config).unwrap()
}

fn score(toml: &str, episode: &Episode) -> Score {
    scorer(toml).score(episode, &ScoreContext::default())
}

fn check(toml: &str, episode: &Episode, want: f64) {
    let reward = score(toml, episode).reward;
    let value = reward.value().unwrap_or_else(|| panic!("{toml}: {reward:?}"));
    assert!((value - want).abs() < 1e-12, "{toml}: {value}, not {want}");
}

fn answers(right: &str, given: &str) -> Episode {
    episode(Some(right), 3, &[Did::Answers(given)])
}

const EXACT: &str = "type = 'exact-answer'";

#[test]
fn a_right_answer_is_worth_1_and_solves_the_task() {
    for (right, given) in [("42", " 42 "), ("42", "042.0"), ("-0.5", "-.50"), ("Paris", "Paris\n")] {
        let score = score(EXACT, &answers(right, given));
        assert_eq!(score.reward.value(), Some(1.0), "{right} {given}");
        assert_eq!(score.solved, Some(true));
    }
}

#[test]
fn a_wrong_answer_is_worth_0() {
    for (right, given) in [("42", "43"), ("42", "42.0000001"), ("Paris", "paris"), ("Paris", "7")] {
        let score = score(EXACT, &answers(right, given));
        assert_eq!(score.reward.value(), Some(0.0), "{right} {given}");
        assert_eq!(score.solved, Some(false));
    }
}

#[test]
fn no_answer_is_the_policys_doing_and_worth_0() {
    let silent = episode(Some("42"), 3, &[Did::Babbles]);
    let score = score(EXACT, &silent);
    assert_eq!(score.terms[0].outcome, TermOutcome::Value { value: 0.0 });
    assert_eq!(Outcome::of(&silent, Some(&score)), Outcome::PolicyTimedOut);
}

#[test]
fn a_task_without_a_right_answer_is_unscorable_not_0() {
    let score = score(EXACT, &episode(None, 3, &[Did::Answers("42")]));
    assert!(matches!(score.terms[0].outcome, TermOutcome::NotApplicable { .. }));
    assert!(matches!(score.reward, Reward::Unscorable { .. }));
    assert_eq!(score.solved, None);
}

#[test]
fn a_parse_failure_stays_one_whichever_path_it_takes() {
    let wordy = answers("42", "forty-two");
    let paths = [
        ("", Some(0.0)),
        ("on_parse_failure = { value = -0.5 }\nweight = 2", Some(-1.0)),
        ("on_parse_failure = 'unscorable'", None),
    ];
    for (path, want) in paths {
        let score = score(&format!("{EXACT}\n{path}"), &wordy);
        assert!(matches!(score.terms[0].outcome, TermOutcome::ParseFailure { .. }), "{path}");
        assert_eq!(score.reward.value(), want, "{path}");
        assert_eq!(score.solved, Some(false));
    }
}

#[test]
fn an_unscorable_parse_failure_makes_the_whole_sum_unscorable() {
    let reward = "type = 'sum'\nof = [{ type = 'format' }, { type = 'exact-answer', on_parse_failure = 'unscorable' }]";
    let wordy = answers("42", "forty-two");
    let score = score(reward, &wordy);
    assert_eq!(score.terms[0].outcome, TermOutcome::Value { value: 1.0 });
    assert_eq!(Outcome::of(&wordy, Some(&score)), Outcome::Unscorable);
}

#[test]
fn format_is_the_share_of_turns_understood() {
    let mixed = episode(None, 3, &[Did::Babbles, Did::Calls(&[OK]), Did::Babbles, Did::Answers("x")]);
    let score = score("type = 'format'", &mixed);
    assert_eq!(score.reward.value(), Some(0.5));
    assert_eq!(score.terms[0].turns, [Some(0.0), Some(1.0), Some(0.0), Some(1.0)]);
}

#[test]
fn tool_success_is_the_share_of_calls_that_work() {
    let calls = episode(None, 3, &[Did::Calls(&[OK, NO]), Did::Babbles, Did::Calls(&[OK, OK])]);
    let score = score("type = 'tool-success'", &calls);
    assert_eq!(score.reward.value(), Some(0.75));
    assert_eq!(score.terms[0].turns, [Some(0.5), None, Some(1.0)]);
}

#[test]
fn calls_past_the_cap_neither_help_nor_hurt() {
    let padded = episode(None, 3, &[Did::Calls(&[NO, OK]), Did::Calls(&[OK, OK, OK]), Did::Calls(&[NO])]);
    // The first three calls are no, ok, ok.
    check("type = 'tool-success'\nmax_calls = 3", &padded, 2.0 / 3.0);
    assert_eq!(
        score("type = 'tool-success'\nmax_calls = 3", &padded).terms[0].turns,
        [Some(0.5), Some(1.0), None]
    );
}

#[test]
fn without_a_call_tool_success_does_not_apply() {
    let score = score("type = 'tool-success'", &answers("1", "1"));
    assert!(matches!(score.reward, Reward::Unscorable { .. }));
}

#[test]
fn cost_counts_tokens_turns_and_calls() {
    // 2 turns of 5 tokens, 3 calls: 10·0.01 + 2·0.1 + 3·0.5 = 1.8.
    let spent = episode(None, 5, &[Did::Calls(&[OK, NO, OK]), Did::Answers("x")]);
    check("type = 'cost'\nper_token = 0.01\nper_turn = 0.1\nper_call = 0.5", &spent, -1.8);
}

#[test]
fn a_part_that_does_not_apply_is_left_out_of_a_sum_and_a_product() {
    // Without a call: 2·1 + 1, not an average and not a 0; in the product the missing part must not make it 0.
    let right = answers("7", "7");
    let parts =
        "of = [{ type = 'exact-answer', weight = 2 }, { type = 'format' }, { type = 'tool-success' }]";
    check(&format!("type = 'sum'\n{parts}"), &right, 3.0);
    check(&format!("type = 'product'\n{parts}"), &right, 2.0);
}

#[test]
fn a_sum_of_parts_that_do_not_apply_does_not_apply() {
    let none = "{ type = 'sum', of = [{ type = 'tool-success' }] }";
    check(&format!("type = 'sum'\nof = [{none}, {{ type = 'format' }}]"), &answers("7", "7"), 1.0);
    let alone = score(&format!("type = 'product'\nof = [{none}]"), &answers("7", "7"));
    assert!(matches!(alone.reward, Reward::Unscorable { .. }));
}

#[test]
fn a_gate_pays_only_where_it_is_open() {
    let reward = "type = 'sum'\nof = [{ type = 'exact-answer', weight = 10 }, { type = 'gate', when = 'exact-answer', at_least = 1, then = { type = 'tool-success' } }]";
    let right = episode(Some("7"), 3, &[Did::Calls(&[OK, NO]), Did::Answers("7")]);
    let wrong = episode(Some("7"), 3, &[Did::Calls(&[OK, NO]), Did::Answers("8")]);
    check(reward, &right, 10.5);
    check(reward, &wrong, 0.0);
}

#[test]
fn a_gate_looks_at_the_raw_value_not_the_weighted_one() {
    let reward = "type = 'sum'\nof = [{ type = 'exact-answer', weight = 0.1 }, { type = 'gate', when = 'exact-answer', at_least = 1, then = { type = 'format' } }]";
    check(reward, &answers("7", "7"), 1.1);
}

#[test]
fn a_shut_gate_pays_its_otherwise() {
    let reward = "type = 'gate'\nwhen = { type = 'exact-answer' }\nat_least = 1\nthen = { type = 'format' }\notherwise = { type = 'cost', per_turn = 1 }";
    check(reward, &answers("7", "8"), -1.0);
}

#[test]
fn a_gate_with_nothing_to_decide_by_does_not_apply() {
    let gate = "{ type = 'gate', when = { type = 'tool-success' }, at_least = 1, then = { type = 'format', name = 'f2' } }";
    check(&format!("type = 'sum'\nof = [{gate}, {{ type = 'format' }}]"), &answers("7", "7"), 1.0);
}

#[test]
fn a_veto_falls_only_on_evidence() {
    let reward = |bound: &str| {
        format!(
            "type = 'veto'\nwhen = {{ type = 'tool-success' }}\n{bound}\nvalue = -1\nthen = {{ type = 'exact-answer' }}"
        )
    };
    let half = episode(Some("7"), 3, &[Did::Calls(&[OK, NO]), Did::Answers("7")]);
    check(&reward("below = 0.5"), &half, 1.0);
    check(&reward("at_most = 0.5"), &half, -1.0);
    check(&reward("above = 0.5"), &half, 1.0);
    check(&reward("at_least = 0.5"), &half, -1.0);
    check(&reward("below = 2"), &answers("7", "7"), 1.0);
}

#[test]
fn an_abstention_leaves_the_episode_out_only_on_evidence() {
    let reward = |at_least: f64| {
        format!(
            "type = 'abstain'\nwhen = {{ type = 'tool-success' }}\nat_least = {at_least}\nthen = {{ type = 'exact-answer' }}"
        )
    };
    let half = episode(Some("7"), 3, &[Did::Calls(&[OK, NO]), Did::Answers("7")]);
    check(&reward(0.6), &half, 1.0);
    check(&reward(0.0), &answers("7", "7"), 1.0);
    let reward = score(&reward(0.5), &half).reward;
    assert!(matches!(&reward, Reward::Unscorable { why } if why == "0.5 is at least 0.5"), "{reward:?}");
}

#[test]
fn a_branch_not_taken_says_nothing() {
    let reward = "type = 'veto'\nwhen = { type = 'format' }\nat_least = 0\nvalue = -1\nthen = { type = 'exact-answer', on_parse_failure = 'unscorable' }";
    check(reward, &answers("42", "forty-two"), -1.0);
}

#[test]
fn clip_keeps_its_bounds() {
    let reward = |low, high| {
        format!("type = 'clip'\nof = {{ type = 'cost', per_turn = 1 }}\nlow = {low}\nhigh = {high}")
    };
    let two_turns = episode(None, 3, &[Did::Babbles, Did::Babbles]);
    check(&reward(-1, 0), &two_turns, -1.0);
    check(&reward(-3, 0), &two_turns, -2.0);
    check(&reward(1, 2), &two_turns, 1.0);
}

#[test]
fn a_schedule_moves_in_a_straight_line() {
    let scorer = scorer(
        "type = 'schedule'\nof = { type = 'format' }\nfrom = 1\nto = 0\nstart_step = 10\nend_step = 20",
    );
    for (step, want) in [(0, 1.0), (10, 1.0), (15, 0.5), (20, 0.0), (99, 0.0)] {
        let score = scorer.score(&answers("7", "7"), &ScoreContext::at_step(step));
        assert_eq!(score.reward.value(), Some(want), "step {step}");
    }
}

#[test]
fn a_schedule_of_no_length_jumps() {
    let scorer =
        scorer("type = 'schedule'\nof = { type = 'format' }\nfrom = 1\nto = 3\nstart_step = 5\nend_step = 5");
    for (step, want) in [(4, 1.0), (5, 3.0)] {
        assert_eq!(scorer.score(&answers("7", "7"), &ScoreContext::at_step(step)).reward.value(), Some(want));
    }
}

#[test]
fn solved_by_names_the_term_that_tells() {
    let reward = "type = 'solved-by'\nterm = 'format'\nat_least = 0.5\nof = { type = 'sum', of = [{ type = 'exact-answer' }, { type = 'format', weight = 0 }] }";
    let half = episode(Some("7"), 3, &[Did::Babbles, Did::Answers("8")]);
    assert_eq!(score(reward, &half).solved, Some(true));
    assert_eq!(score(reward, &half).reward.value(), Some(0.0));
    assert_eq!(score("type = 'format'", &half).solved, None);
}

#[test]
fn numbers_that_overflow_are_a_broken_grader() {
    let reward = "type = 'sum'\nof = [{ type = 'format', weight = 1.7e308 }, { type = 'exact-answer', weight = 1.7e308 }]";
    let score = score(reward, &answers("7", "7"));
    assert!(matches!(score.reward, Reward::GraderFailed { .. }), "{:?}", score.reward);
    // Clipping must not launder it.
    let clipped = "type = 'clip'\nlow = 0\nhigh = 1\nof = { type = 'product', of = [{ type = 'format', weight = 1e300 }, { type = 'exact-answer', weight = 1e300 }] }";
    let score = scorer(clipped).score(&answers("7", "7"), &ScoreContext::default());
    assert!(matches!(score.reward, Reward::GraderFailed { .. }), "{:?}", score.reward);
}

#[test]
fn an_episode_that_broke_is_never_scored() {
    let scorer = scorer(EXACT);
    let batch = [Arc::new(answers("7", "7")), Arc::new(broken(answers("7", "7")))];
    let scored = scorer.score_batch(&batch, &ScoreContext::default(), &RewardState::default()).episodes;
    assert_eq!(scored[0].outcome(), Outcome::Solved);
    assert!(scored[1].score.is_none());
    assert_eq!(scored[1].outcome(), Outcome::InfrastructureFailed);
    // Asked all the same, the reward is no number.
    assert_eq!(scorer.score(&batch[1], &ScoreContext::default()).reward.value(), None);
}

#[test]
fn the_explanation_shows_every_part_with_its_evidence() {
    let reward = "type = 'sum'\nof = [{ type = 'exact-answer', weight = 2 }, { type = 'gate', when = 'exact-answer', at_least = 1, then = { type = 'tool-success' } }]";
    let right = episode(Some("7"), 3, &[Did::Calls(&[OK, NO]), Did::Answers("7")]);
    let want = "\
reward = 2.5
  sum = 2.5
    exact-answer (weight 2) = 2
      | compared: `7` is `7`
    gate (at least 1) = 0.5
      | it is open
      when: raw exact-answer = 1
      then: tool-success = 0.5
        | counted: 1 of 2 counted calls succeeded, 2 were made
        | by turn: 0.5 –
solved: yes
";
    assert_eq!(scorer(reward).explain(&right, &ScoreContext::default()), want);
}

fn summarised(scorer: &Scorer, batch: &[Arc<Episode>]) -> Vec<TermSummary> {
    let (context, state) = (ScoreContext::default(), RewardState::default());
    let scored = scorer.score_batch(batch, &context, &state).episodes;
    scorer.summarise(&[ScoredTogether { context: &context, state: &state, scored: scored.iter().collect() }])
}

#[test]
fn variance_is_told_of_what_reaches_the_reward() {
    let calls =
        |did: &[CallEnd], said| Arc::new(episode(Some("7"), 3, &[Did::Calls(did), Did::Answers(said)]));
    let batch = [calls(&[OK, OK], "8"), calls(&[OK, NO], "8"), calls(&[NO, NO], "8"), calls(&[OK, OK], "9")];
    let share = |at_least: f64, name: &str| {
        let gated = format!(
            "type = 'sum'\nof = [{{ type = 'exact-answer' }}, \
             {{ type = 'gate', when = 'exact-answer', at_least = {at_least}, then = {{ type = 'tool-success' }} }}]"
        );
        let found = summarised(&scorer(&gated), &batch);
        found.into_iter().find(|term| term.name == name).unwrap().variance_share
    };
    // Nobody answers right: behind a gate that asks for it, the calls pay nothing, however much they vary.
    assert_eq!(share(1.0, "tool-success"), 0.0);
    assert_eq!(share(0.0, "tool-success"), 1.0);
}

#[test]
fn a_summary_counts_what_each_term_found() {
    let scorer = scorer(
        "type = 'sum'\nof = [{ type = 'exact-answer', weight = 2 }, { type = 'tool-success' }, { type = 'format' }]",
    );
    let batch = [
        answers("7", "7"),
        answers("7", "seven"),
        episode(Some("7"), 3, &[Did::Calls(&[OK, OK]), Did::Answers("8")]),
        broken(answers("7", "7")),
    ];
    let batch: Vec<Arc<Episode>> = batch.into_iter().map(Arc::new).collect();
    let found = summarised(&scorer, &batch);
    let exact = &found[0];
    assert_eq!((exact.values, exact.parse_failures, exact.not_applicable), (2, 1, 0));
    assert_eq!(exact.mean, 0.5);
    assert_eq!((found[1].values, found[1].not_applicable), (1, 2));
    // Contributions over the three that count: exact 2, 0, 0 (variance 4/3), tool 0, 0, 1 (variance 1/3), format constant.
    let shares: Vec<f64> = found.iter().map(|t| t.variance_share).collect();
    assert!(
        (shares[0] - 0.8).abs() < 1e-12 && (shares[1] - 0.2).abs() < 1e-12 && shares[2] == 0.0,
        "{shares:?}"
    );
}

#[test]
fn what_a_summed_term_finds_in_a_turn_is_paid_at_that_turn() {
    // Three turns: an understood call that works, babble, an answer. `format` is 2/3 with weight 0.3, so 0.2 in all, half of it
    // at each understood turn. `exact-answer` has no turns: its 1 is paid at the end, by the credit rule.
    let attempt = episode(Some("42"), 3, &[Did::Calls(&[OK]), Did::Babbles, Did::Answers("42")]);
    let reward = "type = 'sum'\nof = [{ type = 'exact-answer' }, { type = 'format', weight = 0.3 }]";
    let paid = score(reward, &attempt);
    assert_eq!(paid.turn_rewards.len(), 3);
    for (got, want) in paid.turn_rewards.iter().zip([0.1, 0.0, 0.1]) {
        assert!((got - want).abs() < 1e-12, "{:?}", paid.turn_rewards);
    }
    check(reward, &attempt, 1.2);
}

#[test]
fn a_term_behind_a_condition_is_paid_at_the_end() {
    let attempt = episode(Some("42"), 3, &[Did::Calls(&[OK]), Did::Answers("42")]);
    let gated = "type = 'gate'\nwhen = { type = 'exact-answer' }\nat_least = 1\nthen = { type = 'format' }";
    assert_eq!(score(gated, &attempt).turn_rewards, Vec::<f64>::new());
    let summed = format!("type = 'sum'\nof = [{{ {} }}]", gated.replace('\n', ", "));
    assert_eq!(score(&summed, &attempt).turn_rewards, Vec::<f64>::new());
}
