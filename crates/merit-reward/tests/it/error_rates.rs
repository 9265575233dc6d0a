//! Error rates make verdicts wrong as often as they say, always the same ones, and never touch whether a task was solved.

use crate::episodes::{Did, episode};
use merit_core::{CallEnd, Episode, Score, ScoredEpisode};
use merit_reward::{RewardConfig, RewardState, ScoreContext, Scorer};
use std::sync::Arc;

const MANY: u32 = 4000;

fn scorer(errors: &str) -> Scorer {
    let config: RewardConfig =
        RewardConfig::from_toml(&format!("type = 'exact-answer'\nerrors = {{ {errors} }}")).unwrap();
    Scorer::compile(&config).unwrap()
}

fn many(given: &str) -> Vec<Arc<Episode>> {
    let named = |member| {
        let mut made = episode(Some("7"), 1, &[Did::Answers(given)]);
        made.id.member = member;
        Arc::new(made)
    };
    (0..MANY).map(named).collect()
}

fn scores(scorer: &Scorer, episodes: &[Arc<Episode>], seed: u64) -> Vec<Score> {
    let context = ScoreContext { seed, ..ScoreContext::default() };
    let scored: Vec<ScoredEpisode> = scorer.score_batch(episodes, &context, &RewardState::default()).episodes;
    scored.into_iter().map(|scored| scored.score.unwrap()).collect()
}

fn yes(scores: &[Score]) -> usize {
    scores.iter().filter(|score| score.reward.value() == Some(1.0)).count()
}

#[test]
fn verdicts_flip_at_the_stated_rate() {
    // Of 4000 at a rate of 0.2, 800 are expected with a standard deviation of 25; 4 of those either way.
    let wrong = scores(&scorer("false_positive = 0.2"), &many("8"), 1);
    assert!((700..=900).contains(&yes(&wrong)), "{}", yes(&wrong));
    let right = scores(&scorer("false_negative = 0.2"), &many("7"), 1);
    assert!((3100..=3300).contains(&yes(&right)), "{}", yes(&right));
    // Each rate touches only its own kind of verdict.
    assert_eq!(yes(&scores(&scorer("false_positive = 0.2"), &many("7"), 1)), MANY as usize);
    assert_eq!(yes(&scores(&scorer("false_negative = 0.2"), &many("8"), 1)), 0);
}

#[test]
fn solved_is_told_by_the_untouched_verdict() {
    let wrong = scores(&scorer("false_positive = 1.0"), &many("8"), 1);
    assert!(wrong.iter().all(|score| score.reward.value() == Some(1.0) && score.solved == Some(false)));
    assert!(wrong.iter().all(|score| score.terms[0].evidence.iter().any(|e| e.act == "disturbed")));
    let right = scores(&scorer("false_negative = 1.0"), &many("7"), 1);
    assert!(right.iter().all(|score| score.reward.value() == Some(0.0) && score.solved == Some(true)));
}

#[test]
fn the_same_seed_errs_on_the_same_episodes_in_any_order_and_another_on_others() {
    let (noisy, mut episodes) = (scorer("false_positive = 0.3"), many("8"));
    let first = scores(&noisy, &episodes, 1);
    assert_eq!(first, scores(&noisy, &episodes, 1));
    assert_ne!(first, scores(&noisy, &episodes, 2));
    let alone = noisy.score(&episodes[17], &ScoreContext { seed: 1, ..ScoreContext::default() });
    assert_eq!(alone, first[17]);
    episodes.reverse();
    let mut backwards = scores(&noisy, &episodes, 1);
    backwards.reverse();
    assert_eq!(first, backwards);
}

#[test]
fn judges_of_one_ensemble_err_independently() {
    let toml = "type = 'ensemble'\nrule = 'majority'\nof = [
        { type = 'exact-answer', name = 'a', errors = { false_positive = 0.2 } },
        { type = 'exact-answer', name = 'b', errors = { false_positive = 0.2 } },
        { type = 'exact-answer', name = 'c', errors = { false_positive = 0.2 } },
    ]";
    let config: RewardConfig = RewardConfig::from_toml(toml).unwrap();
    let scores = scores(&Scorer::compile(&config).unwrap(), &many("8"), 1);
    // Two or three of three wrong: 3 · 0.2² · 0.8 + 0.2³ = 0.104, so 416 of 4000, standard deviation 19.
    assert!((340..=492).contains(&yes(&scores)), "{}", yes(&scores));
}

#[test]
fn turns_flip_independently_and_the_whole_moves_with_them() {
    let config: RewardConfig =
        RewardConfig::from_toml("type = 'tool-success'\nerrors = { false_negative = 0.5 }").unwrap();
    let scorer = Scorer::compile(&config).unwrap();
    let turns: Vec<Did<'_>> = (0..8).map(|_| Did::Calls(&[CallEnd::Ok])).collect();
    let mut mixed = 0;
    for member in 0..50 {
        let mut made = episode(None, 1, &turns);
        made.id.member = member;
        let score = scorer.score(&made, &ScoreContext::default());
        let left = score.terms[0].turns.iter().flatten().sum::<f64>();
        assert_eq!(score.reward.value(), Some(left / 8.0));
        mixed += u32::from(left > 0.0 && left < 8.0);
    }
    assert!(mixed > 40, "{mixed}");
}

#[test]
fn an_info_that_is_a_verdict_errs_turn_by_turn_and_a_number_cannot_err() {
    let mut judged = episode(Some("7"), 1, &[Did::Answers("8"), Did::Answers("8"), Did::Answers("7")]);
    for (turn, fine) in judged.turns.iter_mut().zip([1.0, 0.0, 0.0]) {
        turn.info.insert("fine", fine);
    }
    let info = "type = 'info'\nkey = 'fine'\nreduce = 'mean'\nper_turn = true";
    let scored = |rest: &str| {
        let config = RewardConfig::from_toml(&format!("{info}\n{rest}")).unwrap();
        let score =
            Scorer::compile(&config).unwrap().score(&Arc::new(judged.clone()), &ScoreContext::default());
        score.reward.value().unwrap()
    };
    assert!((scored("verdict = true") - 1.0 / 3.0).abs() < 1e-9);
    // All three are turned round: two yes of three.
    let all = "verdict = true\nerrors = { false_positive = 1.0, false_negative = 1.0 }";
    assert!((scored(all) - 2.0 / 3.0).abs() < 1e-9);
    // A number is no verdict, nor is a sum of verdicts.
    let number = RewardConfig::from_toml(&format!("{info}\nerrors = {{ false_positive = 0.1 }}")).unwrap();
    let refused = Scorer::compile(&number).err().unwrap().to_string();
    assert!(
        refused.contains("`errors` makes verdicts wrong now and then, and `info` gives none"),
        "{refused}"
    );
    let sum = RewardConfig::from_toml("type = 'info'\nkey = 'fine'\nreduce = 'sum'\nverdict = true");
    let refused = sum.unwrap_err().to_string();
    assert!(refused.contains("a sum of verdicts is no verdict"), "{refused}");
}
