//! Episodes with words, calls and payloads, for the tests of terms.

use merit_core::*;
use merit_reward::{RewardConfig, ScoreContext, Scorer};
use serde_json::Value;

/// What the policy did in a turn.
#[derive(Clone)]
pub enum Did<'a> {
    Says(&'a str),
    Answers(&'a str),
    /// Writes this text, which means that answer.
    Writes(&'a str, &'a str),
    Babbles,
    /// Calls: tool, input, end, output.
    Calls(&'a [(&'a str, &'a str, CallEnd, &'a str)]),
}

/// Tokens of every turn.
pub const TOKENS: usize = 4;

/// An episode that was run here.
pub fn play(answer: Option<&str>, payload: Value, did: &[Did<'_>]) -> Episode {
    let mut transcript = Transcript::default();
    transcript.append(segment(Role::User, 0, "What is to be done?")).unwrap();
    let mut turns = Vec::new();
    for (index, did) in (0_u32..).zip(did) {
        let (text, action, calls) = act(did);
        transcript.append(segment(Role::Policy, index, &text)).unwrap();
        for call in &calls {
            transcript.append(segment(Role::Tool, index, &call.output)).unwrap();
        }
        turns.push(Turn::new(index, action).with_calls(calls));
    }
    let answered = matches!(did.last(), Some(Did::Answers(_) | Did::Writes(..)));
    Episode::new(
        EpisodeId { phase: "test".into(), step: 0, group: 0, member: 0, branch: 0 },
        Task { answer: answer.map(str::to_owned), ..Task::new("test", "test/1").with_payload(payload) },
        if answered { End::Answered } else { End::Truncated { limit: Limit::Turns } },
    )
    .with_transcript(transcript)
    .with_cost(Cost { policy_tokens: (TOKENS * turns.len()) as u64, ..Cost::default() })
    .with_turns(turns)
}

/// An answer to a task whose right answer is `right`.
pub fn answers(right: &str, given: &str) -> Episode {
    play(Some(right), Value::Null, &[Did::Answers(given)])
}

/// The same, as somebody else recorded it: text only.
pub fn imported(mut episode: Episode) -> Episode {
    let mut transcript = Transcript::default();
    for segment in episode.transcript.segments() {
        let (tokens, logprobs, values) = (Vec::new(), Vec::new(), Vec::new());
        let (provenance, known) = (Provenance::Imported, Known::Text);
        let stripped =
            Segment { tokens, logprobs, values, provenance, known, policy_version: None, ..segment.clone() };
        transcript.append(stripped).unwrap();
    }
    episode.transcript = transcript;
    episode.cost = Cost { tokens_unknown: true, seconds_unknown: true, ..Cost::default() };
    episode.reported = Some(Reported { reward: 1.0, by: "test".into() });
    episode
}

/// The same, broken at the tool.
pub fn broken(mut episode: Episode) -> Episode {
    episode.end = End::Failed { fault: Fault::new(Boundary::Tool, "no disk") };
    episode
}

fn segment(role: Role, turn: u32, text: &str) -> Segment {
    let own = role == Role::Policy;
    Segment {
        role,
        provenance: Provenance::Sampled,
        turn,
        tokens: vec![TokenId(1); TOKENS],
        logprobs: if own { vec![-1.0; TOKENS] } else { Vec::new() },
        values: Vec::new(),
        policy_version: own.then_some(PolicyVersion(0)),
        text: text.to_owned(),
        known: Known::Full,
    }
}

fn act(did: &Did<'_>) -> (String, Action, Vec<CallRecord>) {
    let own = |text: &&str| (*text).to_owned();
    match did {
        Did::Says(text) => (own(text), Action::Say { text: own(text) }, Vec::new()),
        Did::Answers(text) => (own(text), Action::Answer { text: own(text) }, Vec::new()),
        Did::Writes(text, answer) => (own(text), Action::Answer { text: own(answer) }, Vec::new()),
        Did::Babbles => ("?!".into(), Action::Malformed { why: "no tag".into() }, Vec::new()),
        Did::Calls(calls) => {
            let record = |(tool, input, end, output): &(&str, &str, CallEnd, &str)| CallRecord {
                call: ToolCall { tool: own(tool), input: own(input) },
                end: *end,
                output: own(output),
                seconds: Some(0.0),
            };
            let records: Vec<CallRecord> = calls.iter().map(record).collect();
            let asked = records.iter().map(|r| r.call.clone()).collect();
            (String::new(), Action::Calls { calls: asked }, records)
        }
    }
}

pub fn scorer(toml: &str) -> Scorer {
    let config: RewardConfig = merit_graders::from_toml(toml).unwrap_or_else(|why| panic!("{toml}: {why}"));
    Scorer::compile(&config).unwrap_or_else(|why| panic!("{toml}: {why}"))
}

/// Why a reward is refused.
pub fn refusal(toml: &str) -> String {
    match merit_graders::from_toml(toml) {
        Ok(config) => Scorer::compile(&config).err().unwrap_or_else(|| panic!("{toml} compiles")).to_string(),
        Err(why) => why.to_string(),
    }
}

pub fn score(toml: &str, episode: &Episode) -> Score {
    scorer(toml).score(episode, &ScoreContext::default())
}

/// The first term of a score.
pub fn term(toml: &str, episode: &Episode) -> TermScore {
    score(toml, episode).terms.swap_remove(0)
}

/// What the first term found, as a number.
pub fn value(toml: &str, episode: &Episode) -> f64 {
    let outcome = term(toml, episode).outcome;
    outcome.value().unwrap_or_else(|| panic!("{toml}: {outcome:?}"))
}

pub fn check(toml: &str, episode: &Episode, want: f64) {
    let got = value(toml, episode);
    assert!((got - want).abs() < 1e-12, "{toml}: {got}, not {want}: {:?}", term(toml, episode).evidence);
}

pub fn check_silent(toml: &str, episode: &Episode) {
    let outcome = term(toml, episode).outcome;
    assert!(matches!(outcome, TermOutcome::NotApplicable { .. }), "{toml}: {outcome:?}");
}

pub fn check_grader_failed(toml: &str, episode: &Episode) {
    let score = score(toml, episode);
    assert!(
        matches!(score.terms[0].outcome, TermOutcome::GraderFailed { .. }),
        "{toml}: {:?}",
        score.terms[0]
    );
    assert!(matches!(score.reward, Reward::GraderFailed { .. }), "{toml}: {:?}", score.reward);
}

pub fn check_parse_failure(toml: &str, episode: &Episode) {
    let score = score(toml, episode);
    assert!(
        matches!(score.terms[0].outcome, TermOutcome::ParseFailure { .. }),
        "{toml}: {:?}",
        score.terms[0]
    );
    assert_eq!(score.reward.value(), Some(0.0), "{toml}");
}

/// The evidence of the first term, in one text.
pub fn evidence(toml: &str, episode: &Episode) -> String {
    let shown = term(toml, episode).evidence.into_iter().map(|e| format!("{}: {}", e.act, e.finding));
    shown.collect::<Vec<String>>().join("\n")
}
