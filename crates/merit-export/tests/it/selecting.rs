//! Which episodes are taken: two groups of four whose counts can be told by hand.

use merit_core::{
    Boundary, End, Episode, EpisodeId, Fault, Known, Provenance, Reward, Role, Score, ScoredEpisode, Segment,
    Task, Transcript,
};
use merit_export::{Choice, LeftOut, Pick, Rows, Shape, Taken, select};

fn said(role: Role, text: &str) -> Segment {
    Segment {
        role,
        provenance: Provenance::Imported,
        turn: 0,
        tokens: Vec::new(),
        logprobs: Vec::new(),
        values: Vec::new(),
        policy_version: None,
        text: text.to_owned(),
        known: Known::Text,
    }
}

fn episode(group: u32, member: u32, prompt: &str, end: End, reward: Option<Reward>) -> ScoredEpisode {
    let id = EpisodeId { phase: "train".into(), step: 0, group, member, branch: 0 };
    let mut transcript = Transcript::default();
    transcript.append(said(Role::User, prompt)).unwrap();
    transcript.append(said(Role::Policy, &format!("answer {member}"))).unwrap();
    let task = Task::new("quiz", format!("quiz/{group}"));
    let episode = Episode::new(id, task, end).with_transcript(transcript);
    let score = reward.map(|reward| {
        let solved = reward.value().map(|value| value >= 1.0);
        Score::new(reward).with_solved(solved)
    });
    ScoredEpisode { episode: episode.into(), score }
}

fn rewarded(group: u32, member: u32, value: f64) -> ScoredEpisode {
    episode(group, member, "what?", End::Answered, Some(Reward::Value { value }))
}

/// Group 0 has rewards 0, 1, 0.5 and one that broke; group 1 has 0.25 twice, one unscorable and one whose grader failed.
fn step() -> Vec<ScoredEpisode> {
    let fault = Fault::new(Boundary::Tool, "gone");
    let why = || "no".to_owned();
    vec![
        rewarded(0, 0, 0.0),
        rewarded(0, 1, 1.0),
        rewarded(0, 2, 0.5),
        episode(0, 3, "what?", End::Failed { fault }, None),
        rewarded(1, 0, 0.25),
        rewarded(1, 1, 0.25),
        episode(1, 2, "what?", End::Answered, Some(Reward::Unscorable { why: why() })),
        episode(1, 3, "what?", End::Answered, Some(Reward::GraderFailed { why: why() })),
    ]
}

const UNJUDGED: [(&str, usize); 3] = [("grader failed", 1), ("infrastructure failed", 1), ("unscorable", 1)];

fn check(choice: &Choice, taken: &[&str], others: &[(&'static str, usize)]) {
    let step = step();
    let mut left_out = LeftOut::new();
    let name = |scored: &ScoredEpisode| format!("{}/{}", scored.episode.id.group, scored.episode.id.member);
    let written = |taken: &Taken<'_>| match taken.rejected {
        Some(rejected) => format!("{} over {}", name(taken.chosen), name(rejected)),
        None => name(taken.chosen),
    };
    let found: Vec<String> = select(choice, &step, &mut left_out).iter().map(written).collect();
    assert_eq!(found, taken);
    assert_eq!(left_out, UNJUDGED.iter().chain(others).copied().collect());
}

#[test]
fn everything_that_was_judged_is_taken() {
    check(&Choice::default(), &["0/0", "0/1", "0/2", "1/0", "1/1"], &[]);
}

#[test]
fn only_what_solved_its_task_or_earned_enough() {
    let solved = Choice { solved: true, ..Choice::default() };
    check(&solved, &["0/1"], &[("not solved", 4)]);
    let earned = Choice { min_reward: Some(0.25), ..Choice::default() };
    check(&earned, &["0/1", "0/2", "1/0", "1/1"], &[("below the least reward", 1)]);
}

#[test]
fn the_best_of_each_group_is_the_first_where_several_are_equal() {
    let best = Choice { pick: Pick::Best, ..Choice::default() };
    check(&best, &["0/1", "1/0"], &[("not the best of their group", 3)]);
    let wanted = Choice { solved: true, ..best };
    check(&wanted, &["0/1"], &[("not solved", 4)]);
}

#[test]
fn a_pair_is_the_best_against_the_worst_where_they_differ() {
    let pairs = Choice { pick: Pick::Pairs, ..Choice::default() };
    let others = [("in groups whose rewards do not differ", 2), ("neither best nor worst of their group", 1)];
    check(&pairs, &["0/1 over 0/0"], &others);
    let wanted = Choice { min_reward: Some(2.0), ..pairs };
    let none = [("in groups whose best one is not wanted", 3), ("in groups whose rewards do not differ", 2)];
    check(&wanted, &[], &none);
}

#[test]
fn only_episodes_of_one_prompt_are_compared() {
    let asked = |member, prompt: &str, value| {
        episode(0, member, prompt, End::Answered, Some(Reward::Value { value }))
    };
    let step = [asked(0, "a", 0.0), asked(1, "b", 1.0), asked(2, "a", 0.5)];
    let choice = Choice { pick: Pick::Pairs, ..Choice::default() };
    let mut left_out = LeftOut::new();
    let taken = select(&choice, &step, &mut left_out);
    assert_eq!(taken.len(), 1);
    let rows = Rows::new(Shape::Preference).of(&taken[0]);
    assert_eq!(rows[0]["prompt"][0]["content"], "a");
    assert_eq!(rows[0]["chosen"][0]["content"], "answer 2");
    assert_eq!(rows[0]["rejected"][0]["content"], "answer 0");
    assert_eq!(left_out, LeftOut::from([("in groups whose rewards do not differ", 1)]));
}
