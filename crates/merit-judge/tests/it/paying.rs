//! The term `judge`: it keeps the rules of a score, and its checks may be made of whatever the reward may name.

use crate::made::{components, long_is_good};
use merit_core::{Components, entry};
use merit_evolve::{Edit, Entry, Kind, Library, Phase};
use merit_judge::{JudgeFolder, LibraryFile};
use merit_reward::prelude::*;
use merit_reward::{ScoreContext, Scorer, conformance};
use serde_json::json;
use std::path::Path;

/// 1 where the answer has at least two words.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wordy {}

impl Component for Wordy {
    const ABOUT: About = About { name: "wordy", summary: "1 where the answer has two words.", paper: "" };
}

impl Term for Wordy {
    fn kind(&self) -> TermKind {
        TermKind::VERDICT
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        let words = context.episode.answer().map_or(0, |answer| answer.split_whitespace().count());
        TermResult::verdict(words >= 2, Evidence::new("counted", format!("{words} words")))
    }
}

fn own() -> Components {
    merit_judge::register(components()).with(entry!(Wordy as dyn Term))
}

/// A judge of one check, made by hand; the reward that asks it.
fn judge(at: &Path, check: serde_json::Value) -> String {
    JudgeFolder::create(at, &LibraryFile::default()).unwrap();
    let mut folder = JudgeFolder::open(at).unwrap();
    let (title, made_by) = ("the check".to_owned(), "a person".to_owned());
    let entry = Entry { kind: Kind::Check, title, when: Vec::new(), body: check, weight: 1.0, made_by };
    let added = Edit::Add { id: "the-check".to_owned(), entry };
    let library = Library::default().edited(&[added]).unwrap();
    let version = folder.by_hand(&library, Phase::Reverted, "by hand").unwrap();
    format!("type = 'judge'\njudge = '{}@{version}'\nforce = true\n", at.display())
}

fn opened(reward: &str, components: &Components) -> Result<Scorer, String> {
    let config = components.reading(|| RewardConfig::from_toml(reward)).map_err(|error| error.to_string())?;
    Scorer::opened(&config).map_err(|error| error.to_string())
}

#[test]
fn the_example_of_every_term_keeps_the_rules_of_a_score() {
    let dir = tempfile::tempdir().unwrap();
    let pairs = long_is_good(2, &dir.path().join("pairs.jsonl"));
    let episodes: Vec<_> = pairs.iter().map(|pair| pair.a.as_ref().clone()).collect();
    let examples = conformance::examples(&own());
    assert!(merit_judge::TERMS.iter().all(|term| examples.iter().any(|(name, _)| *name == term.about.name)));
    assert_eq!(conformance::check_examples(&own(), &episodes), Vec::<String>::new());
}

#[test]
fn a_judge_pays_by_terms_of_ones_own() {
    let dir = tempfile::tempdir().unwrap();
    let reward = judge(&dir.path().join("mine"), json!({ "type": "wordy" }));
    let scorer = opened(&reward, &own()).unwrap();
    let pair = long_is_good(1, &dir.path().join("pairs.jsonl")).remove(0);
    assert_eq!(scorer.score(&pair.a, &ScoreContext::default()).reward.value(), Some(1.0));
    let unknown = opened(&reward, &merit_judge::register(components())).err().unwrap();
    assert!(unknown.contains("unknown reward term or combinator `wordy`"), "{unknown}");
}

#[test]
fn a_judge_that_asks_a_judge_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("mine");
    let itself = format!("{}@1", at.display());
    let reward =
        judge(&at, json!({ "type": "sum", "of": [{ "type": "judge", "judge": itself, "force": true }] }));
    let refused = opened(&reward, &own()).err().unwrap();
    assert!(refused.contains("asks a judge itself"), "{refused}");
}
