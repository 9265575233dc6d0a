//! An episode without tokens gets no credit from any rule: the refusal names it and what it lacks.

use merit_core::{Group, Known, Outcome, Provenance, SampleError, ScoredEpisode, Segment};
use merit_credit::conformance::Sketch;
use merit_credit::{CreditBatch, CreditError, RULES};
use std::sync::Arc;

/// The same episode as if somebody else had recorded its text.
fn imported(scored: &ScoredEpisode) -> ScoredEpisode {
    let mut episode = (*scored.episode).clone();
    let textual = |segment: &Segment| Segment {
        provenance: Provenance::Imported,
        known: Known::Text,
        tokens: Vec::new(),
        logprobs: Vec::new(),
        values: Vec::new(),
        policy_version: None,
        ..segment.clone()
    };
    let segments: Vec<Segment> = episode.transcript.segments().iter().map(textual).collect();
    episode.transcript = segments.try_into().unwrap();
    ScoredEpisode { episode: Arc::new(episode), score: scored.score.clone() }
}

#[test]
fn every_rule_refuses_to_train_on_text() {
    let own = Sketch::new(&[(3, 0)], Outcome::Solved, 1.0);
    let members = vec![own.scored(0, 0), imported(&own.scored(0, 1))];
    let id = members[1].episode.id.clone();
    let groups = [Group::assemble(members).unwrap()];
    for entry in RULES {
        let refused =
            (entry.read)(toml::Table::new()).unwrap().0.assign(&CreditBatch::new(&groups)).unwrap_err();
        let want = SampleError::Incomplete { episode: id.clone(), missing: "tokens and log-probabilities" };
        assert_eq!(refused, CreditError::Sample(want), "{}", entry.about.name);
        assert!(refused.to_string().contains(&id.to_string()), "{refused}");
    }
}
