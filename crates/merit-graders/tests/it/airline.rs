//! The airline reward on two hundred recorded episodes that nobody here made. Skipped where they are absent.
use merit_core::{Episode, Outcome, ScoredEpisode};
use merit_import::{ImportOptions, read_file};
use merit_reward::{RewardConfig, RewardState, ScoreContext, Scorer, shipped};
use std::sync::Arc;

const FILE: &str = "tau-bench-airline-gpt-4o.json";

fn scorer() -> Scorer {
    let config: RewardConfig = merit_graders::from_toml(shipped("airline").unwrap().text).unwrap();
    Scorer::compile(&config).unwrap()
}

fn scored(path: &std::path::Path) -> Vec<ScoredEpisode> {
    let imported = read_file(path, "tau-bench", &ImportOptions::default()).unwrap();
    let episodes: Vec<Arc<Episode>> = imported.episodes.into_iter().map(|scored| scored.episode).collect();
    scorer().score_batch(&episodes, &ScoreContext::default(), &RewardState::default()).episodes
}

/// How often a success has more than a failure; ties count half.
fn auc(successes: &[f64], failures: &[f64]) -> f64 {
    let won = |a: &f64| {
        failures.iter().map(|b| if a > b { 1.0 } else { f64::from(u8::from(a == b)) / 2.0 }).sum::<f64>()
    };
    successes.iter().map(won).sum::<f64>() / (successes.len() * failures.len()) as f64
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn split(scored: &[ScoredEpisode], of: impl Fn(&ScoredEpisode) -> Option<f64>) -> (Vec<f64>, Vec<f64>) {
    let (mut successes, mut failures) = (Vec::new(), Vec::new());
    for scored in scored {
        let list = if scored.outcome() == Outcome::Solved { &mut successes } else { &mut failures };
        list.extend(of(scored));
    }
    (successes, failures)
}

#[test]
fn two_hundred_recorded_episodes_are_scored_and_told_apart() {
    let Some(path) = merit_testing::data(FILE) else { return };
    let scored = scored(&path);
    assert_eq!(scored.len(), 200);
    let rewards: Vec<f64> = scored.iter().filter_map(ScoredEpisode::reward).collect();
    assert_eq!(rewards.len(), 200, "every episode has a reward");
    assert_eq!(scored.iter().filter(|s| s.outcome() == Outcome::Solved).count(), 84);
    let (successes, failures) = split(&scored, ScoredEpisode::reward);
    println!(
        "composite: success {:.4}, failure {:.4}, AUC {:.4}",
        mean(&successes),
        mean(&failures),
        auc(&successes, &failures)
    );
    assert!(auc(&successes, &failures) > 0.99 && mean(&successes) > mean(&failures) + 0.4);
    let least = successes.iter().copied().fold(f64::INFINITY, f64::min);
    let most = failures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    println!("least success {least:.4}, greatest failure {most:.4}");
    for term in scorer().term_names() {
        let found =
            |s: &ScoredEpisode| s.score.as_ref()?.terms.iter().find(|t| t.name == term)?.outcome.value();
        let (yes, no) = split(&scored, found);
        println!(
            "{term}: {} and {} values, mean {:.4} and {:.4}, AUC {:.4}",
            yes.len(),
            no.len(),
            mean(&yes),
            mean(&no),
            auc(&yes, &no)
        );
    }
    let actions = |s: &ScoredEpisode| s.score.as_ref()?.terms.first()?.outcome.value();
    let (yes, no) = split(&scored, actions);
    // Without looking at what was reported, the expected changes alone tell most of it.
    assert!(auc(&yes, &no) > 0.75, "{}", auc(&yes, &no));
}

#[test]
fn an_explanation_of_a_recorded_episode_shows_what_its_turns_did() {
    let Some(path) = merit_testing::data(FILE) else { return };
    let scored = scored(&path);
    let by_turn = |s: &&ScoredEpisode| {
        s.score.as_ref().is_some_and(|score| score.turn_rewards.iter().any(|r| *r > 0.0))
    };
    let found = scored.iter().filter(|s| s.outcome() == Outcome::Solved).find(by_turn).unwrap();
    let explained = scorer().explain(&found.episode, &ScoreContext::default());
    println!("{explained}");
    assert!(explained.contains("by turn:") && explained.contains("paid by turn:"), "{explained}");
    assert!(explained.contains("expected calls made") && explained.contains("solved: yes"), "{explained}");
}
