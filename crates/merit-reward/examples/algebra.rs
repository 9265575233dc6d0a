//! Scores many ten-turn episodes with a ten-term reward and prints one JSON line per round: `algebra [EPISODES] [ROUNDS]`.
//!
//! Run by `cargo xtask bench algebra`. The episodes are made up front; a round scores all of them as one batch, with every
//! term's evidence, on all cores.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use merit_core::*;
use merit_reward::{RewardConfig, RewardState, ScoreContext, Scorer};
use std::sync::Arc;
use std::time::Instant;

const REWARD: &str = r#"
type = "sum"
of = [
  { type = "exact-answer", weight = 2.0 },
  { type = "gate", when = "exact-answer", at_least = 1, then = { type = "tool-success", weight = 0.5 } },
  { type = "veto", when = "format", below = 0.5, value = -1.0, then = { type = "cost", per_token = 0.001, per_turn = 0.01 } },
  { type = "format", weight = 0.1 },
  { type = "product", of = [{ type = "format", name = "understood" }, { type = "tool-success", name = "calls", max_calls = 4 }] },
  { type = "schedule", from = 1.0, to = 0.0, start_step = 0, end_step = 100, of = { type = "format", name = "early" } },
  { type = "per-turn", reduce = "mean", of = { type = "tool-success", name = "by-turn" } },
  { type = "clip", low = -0.2, high = 0.0, of = { type = "cost", name = "calls-cost", per_call = 0.01 } },
  { type = "normalised-sum", of = [{ type = "exact-answer", name = "right" }] },
]
"#;

fn main() {
    let number = |at: usize, default: usize| std::env::args().nth(at).map_or(default, |a| a.parse().unwrap());
    let (episodes, rounds) = (number(1, 100_000), number(2, 3));
    let config: RewardConfig = RewardConfig::from_toml(REWARD).unwrap();
    let scorer = Scorer::compile(&config).unwrap();
    assert_eq!(scorer.term_names().len(), 10);
    let batch: Vec<Arc<Episode>> = (0..episodes).map(|at| Arc::new(episode(at as u32))).collect();
    for round in 0..rounds {
        let began = Instant::now();
        let scored = scorer.score_batch(&batch, &ScoreContext::default(), &RewardState::default());
        let seconds = began.elapsed().as_secs_f64();
        let sum: f64 = scored.episodes.iter().filter_map(ScoredEpisode::reward).sum();
        println!(
            r#"{{"side":"merit","round":{round},"episodes":{episodes},"terms":10,"seconds":{seconds},"sum":{sum}}}"#
        );
    }
}

fn episode(at: u32) -> Episode {
    let task = Task::new("made", format!("made/{}", at / 8)).with_answer("42");
    let call = ToolCall { tool: "calc".into(), input: format!("{at} + 1") };
    let turn = |index: u32| {
        let last = index == 9;
        let end = if (at + index).is_multiple_of(5) { CallEnd::Refused } else { CallEnd::Ok };
        let record = CallRecord { call: call.clone(), end, output: "7".into(), seconds: Some(0.0) };
        let action = match last {
            true => Action::Answer { text: if at.is_multiple_of(3) { "42" } else { "41" }.into() },
            false if (at + index).is_multiple_of(11) => Action::Malformed { why: "no call".into() },
            false => Action::Calls { calls: vec![call.clone()] },
        };
        let calls = if last { Vec::new() } else { vec![record] };
        Turn::new(index, action).with_calls(calls)
    };
    Episode::new(
        EpisodeId { phase: "made".into(), step: 0, group: at / 8, member: at % 8, branch: 0 },
        task,
        End::Answered,
    )
    .with_turns((0..10).map(turn).collect())
}
