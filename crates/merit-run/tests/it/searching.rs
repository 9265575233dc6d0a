//! Search and near misses in the stages `evaluate` and `collect`: what is chosen is measured, what was thrown away is paid for, and what cannot be is
//! refused.

use crate::whole::{Making, phase, small_and};
use merit_core::StageKind;
use merit_store::EpisodeFilter;

const STAGES: &str = r#"
[models.reward]
like = "policy"

[[stages]]
type = "imitate"
from = "demonstrations"
[[stages]]
type = "collect"
into = "tries"
tasks = 16
samples = 4
set = { reward = { type = "sum", of = [{ type = "exact-answer" }, { type = "cost", per_token = 0.02 }] } }
[[stages]]
type = "make"
from = "tries"
into = "pairs"
keep = "pairs"
[[stages]]
type = "fit"
model = "reward"
from = "pairs"
loss = "bradley-terry"
steps = 2
batch = 2
learning_rate = 1e-3
[[stages]]
type = "collect"
into = "found"
tasks = 3
search = { type = "best-of", samples = 3, value = "score" }
[[stages]]
type = "evaluate"
name = "beam"
tasks = 3
search = { type = "beam", keep = 2, tries = 2, value = "mean-log-prob" }
[[stages]]
type = "evaluate"
name = "first"
tasks = 3
search = { type = "best-first", tries = 2, steps = 8, value = "log-prob" }
[[stages]]
type = "evaluate"
name = "mcts"
tasks = 3
search = { type = "mcts", tries = 2, steps = 8, value = "reward" }
"#;

#[test]
fn every_strategy_gives_one_episode_of_a_task_and_counts_what_it_cost() {
    let dir = tempfile::tempdir().unwrap();
    let made = Making::at(dir.path().join("run")).train(&small_and(STAGES).unwrap());
    for (name, judged) in [("beam", false), ("first", false), ("mcts", true)] {
        let phase = phase(StageKind::Evaluate, name);
        let episodes = made.folder.episodes(&EpisodeFilter::phase(phase.clone())).unwrap();
        assert_eq!(episodes.len(), 3, "{name}");
        assert!(episodes.iter().all(|stored| stored.scored.episode.id.branch == 0));
        let steps = made.last(&phase, "search/env_steps");
        assert!(steps >= made.last(&phase, "turns_mean"), "{name}: {steps}");
        assert_eq!(made.last(&phase, "search/judge_calls") > 0.0, judged, "{name}");
        // What the store adds up is what the search has spent: chosen episodes and everything that was thrown away.
        let cost = made.folder.costs().unwrap()[&phase];
        assert_eq!(cost.env_steps as f64, (steps * 3.0).round(), "{name}");
        let tokens = made.last(&phase, "search/policy_tokens") * 3.0;
        assert_eq!(cost.policy_tokens as f64, tokens.round(), "{name}");
    }
    let found = phase(StageKind::Collect, "found");
    assert_eq!(made.folder.episodes(&EpisodeFilter::phase(found)).unwrap().len(), 3);
}

fn refused(key: &str, want: &str) {
    let stage = format!("[[stages]]\ntype = 'evaluate'\nname = 'x'\n{key}\n");
    let error = small_and(&stage).unwrap_err().to_string();
    assert!(error.contains(want), "{error}\nhas not: {want}");
}

#[test]
fn a_search_that_cannot_be_is_refused() {
    let beam = "search = { type = 'beam', keep = 2, tries = 2, value = 'log-prob' }";
    refused(&format!("{beam}\nsamples = 4"), "a search gives one episode of each task");
    refused(
        &beam.replace("log-prob", "rewrad"),
        "`search.value = \"rewrad\"`: there is no `[models.rewrad]`",
    );
    refused(&beam.replace("tries = 2", "tries = 1"), "`search.tries` is 1; it lies between 2 and 4096");
    refused(&beam.replace("keep = 2", "kept = 2"), "unknown field `kept`");
    refused(&beam.replace("'beam'", "'dfs'"), "unknown variant `dfs`");
    let before = STAGES.replace("[[stages]]\ntype = \"fit\"", "[[stages]]\ntype = \"evaluate\"\nname = \"y\"\nsearch = { type = \"best-of\", samples = 2, value = \"reward\" }\n[[stages]]\ntype = \"fit\"");
    let error = small_and(&before).unwrap_err().to_string();
    assert!(error.contains("no stage before it fits this model"), "{error}");
}

const ALTERED: &str = r#"
[models.reward]
like = "policy"

[[stages]]
type = "imitate"
from = "demonstrations"
steps = 120
[[stages]]
type = "collect"
into = "tries"
tasks = 40
samples = 8
set = { reward = { type = "solved-by", term = "f", of = { type = "sum", of = [{ type = "format", name = "f" }] } } }
[[stages]]
type = "collect"
into = "near"
tasks = 40
samples = 2
set = { reward = { type = "solved-by", term = "f", of = { type = "sum", of = [{ type = "format", name = "f" }] } } }
alter = { from = "tries", kinds = ["drop", "repeat", "swap", "wrong-argument", "truncate", "substitute"] }
[[stages]]
type = "make"
from = "near"
into = "pairs"
keep = "pairs"
[[stages]]
type = "fit"
model = "reward"
from = "pairs"
loss = "bradley-terry"
steps = 2
batch = 2
learning_rate = 1e-3
"#;

#[test]
fn altered_episodes_are_played_again_beside_those_that_solved_their_task() {
    let dir = tempfile::tempdir().unwrap();
    let made = Making::at(dir.path().join("run")).train(&small_and(ALTERED).unwrap());
    let near = made.folder.episodes(&EpisodeFilter::phase(phase(StageKind::Collect, "near"))).unwrap();
    assert!(!near.is_empty(), "no task was solved");
    for stored in &near {
        let episode = &stored.scored.episode;
        assert!(!matches!(episode.end, merit_core::End::Failed { .. }), "{:?}", episode.end);
        if episode.id.member == 0 {
            assert_eq!(stored.scored.outcome(), merit_core::Outcome::Solved, "played again as it was");
        }
    }
    let pairs = phase(StageKind::Make, "pairs");
    if made.last(&pairs, "tasks") >= 2.0 {
        let fit = phase(StageKind::Fit, "reward");
        assert!(made.last(&fit, "pair_accuracy_actions") >= 0.0);
        assert!(made.last(&fit, "pair_accuracy_last") >= 0.0);
    }
    let twice = ALTERED.replace("\"drop\", ", "\"swap\", ");
    assert!(
        small_and(&twice).unwrap_err().to_string().contains("`alter.kinds` is empty or has a kind twice")
    );
    let hot = ALTERED.replace("samples = 2\n", "samples = 2\ntemperature = 0.5\n");
    assert!(small_and(&hot).unwrap_err().to_string().contains("what is altered is played by a script"));
    let practised = ALTERED.replace("samples = 2\n", "samples = 2\npractice = { fixed = 3 }\n");
    assert!(small_and(&practised).unwrap_err().to_string().contains("so that `practice` says nothing"));
}
