//! The oracle plays every registered world through the same engine as a model would.

use crate::common::{Counting, chat, plan};
use merit_core::conformance::check_episode;
use merit_core::{Boundary, End, EpisodeId, Seed, Split};
use merit_env::{LiveTools, WORLDS, read_world};
use merit_rollout::{
    EpisodePlan, OracleSampler, OracleSettings, RolloutSettings, ToolRuntime, roll_out, tree,
};

#[test]
fn the_oracle_solves_the_tasks_of_every_world() {
    let chat = chat();
    let tools = ToolRuntime::new().unwrap();
    let settings = RolloutSettings {
        max_turns: 64,
        max_turn_tokens: 1000,
        max_episode_tokens: 10_000,
        ..RolloutSettings::default()
    };
    // The examples of `command` and `python` name a program that is not there.
    for entry in WORLDS.iter().filter(|entry| !["command", "python"].contains(&entry.about.name)) {
        let world = read_world(&format!("type = {:?}\n{}", entry.about.name, entry.example)).unwrap();
        let env = world.build(&LiveTools).unwrap();
        let plans: Vec<EpisodePlan> = (0..20)
            .map(|index| {
                EpisodePlan::new(
                    EpisodeId { phase: "oracle".into(), step: 0, group: index, member: 0, branch: 0 },
                    env.task(Split::Train, index.into(), &Seed::root(1)).unwrap(),
                    Seed::root(1).child("group", index.into()),
                )
            })
            .collect();
        let mut oracle = OracleSampler::new(&*env, &chat, &OracleSettings::default(), &plans).unwrap();
        let episodes = roll_out(plans.clone(), &*env, &mut oracle, &chat, &settings, &tools, &mut |_| {});
        drop(oracle);
        for episode in &episodes {
            assert_eq!(check_episode(episode), Vec::<String>::new());
            assert!(episode.end.terminal(), "{}: {:?}", episode.task.id, episode.end);
            if let Some(answer) = &episode.task.answer {
                assert_eq!(episode.answer(), Some(answer.as_str()));
            }
            assert!(episode.transcript.logprobs().iter().all(|&logprob| logprob == 0.0));
        }
        // Every recorded episode can be taken up again at its last turn, with the same end.
        let forks: Vec<EpisodePlan> = plans
            .iter()
            .zip(&episodes)
            .flat_map(|(plan, episode)| tree(plan, episode, &[episode.turns.len() as u32 - 1], 1, 1).unwrap())
            .collect();
        let mut oracle = OracleSampler::new(&*env, &chat, &OracleSettings::default(), &forks).unwrap();
        let branches = roll_out(forks, &*env, &mut oracle, &chat, &settings, &tools, &mut |_| {});
        for (branch, trunk) in branches.iter().zip(&episodes) {
            assert_eq!((&branch.end, branch.transcript.tokens()), (&trunk.end, trunk.transcript.tokens()));
        }
    }
}

#[test]
fn the_probability_of_being_right_is_handed_to_the_expert() {
    let chat = chat();
    let tools = ToolRuntime::new().unwrap();
    for (p_correct, answer) in [(1.0, "3"), (0.0, "0")] {
        let plans = vec![plan(0)];
        let skill = OracleSettings { p_correct, ..OracleSettings::default() };
        let mut oracle = OracleSampler::new(&Counting, &chat, &skill, &plans).unwrap();
        let settings = RolloutSettings::default();
        let episodes = roll_out(plans, &Counting, &mut oracle, &chat, &settings, &tools, &mut |_| {});
        assert_eq!(episodes[0].answer(), Some(answer));
    }
}

#[test]
fn manners_come_as_often_as_their_shares_say_and_stay_the_same_in_an_episode() {
    let shares = [("exact", 0.3), ("hasty", 0.7), ("never", 0.0)];
    let manners = shares.iter().map(|(name, share)| ((*name).to_owned(), *share)).collect();
    let settings = OracleSettings { manners, ..OracleSettings::default() };
    let drawn: Vec<&str> = (0..2000).map(|run| settings.manner(&Seed::root(run)).unwrap()).collect();
    for (name, share) in shares {
        let found = drawn.iter().filter(|drawn| **drawn == name).count() as f64 / 2000.0;
        assert!((found - share).abs() < 0.04, "{name}: {found}");
    }
    assert_eq!(settings.manner(&Seed::root(5)), settings.manner(&Seed::root(5)));
    assert_eq!(OracleSettings::default().manner(&Seed::root(5)), None);
}

#[test]
fn a_named_manner_is_what_the_expert_plays_and_an_expert_without_names_says_so() {
    let chat = chat();
    let tools = ToolRuntime::new().unwrap();
    let manners =
        |name: &str| OracleSettings { manners: [(name.to_owned(), 1.0)].into(), ..OracleSettings::default() };
    let env = read_world("type = \"sums\"\nsizes = [1]").unwrap().build(&LiveTools).unwrap();
    let id = EpisodeId { phase: "oracle".into(), step: 0, group: 0, member: 0, branch: 0 };
    let task = env.task(Split::Train, 0, &Seed::root(1)).unwrap();
    for (name, turns) in [("exact", 2), ("hasty", 1), ("clumsy", 3)] {
        let plans = vec![EpisodePlan::new(id.clone(), task.clone(), Seed::root(1))];
        let mut oracle = OracleSampler::new(&*env, &chat, &manners(name), &plans).unwrap();
        let settings = RolloutSettings::default();
        let episodes = roll_out(plans, &*env, &mut oracle, &chat, &settings, &tools, &mut |_| {});
        assert_eq!(episodes[0].turns.len(), turns, "{name}");
    }
    let plans = vec![plan(0)];
    let mut oracle = OracleSampler::new(&Counting, &chat, &manners("exact"), &plans).unwrap();
    let episodes =
        roll_out(plans, &Counting, &mut oracle, &chat, &RolloutSettings::default(), &tools, &mut |_| {});
    let End::Failed { fault } = &episodes[0].end else { panic!("{:?}", episodes[0].end) };
    assert!(fault.message.contains("has no manner `exact`"), "{}", fault.message);
}

#[test]
fn an_oracle_that_does_not_know_the_plan_is_a_model_fault() {
    let chat = chat();
    let mut oracle = OracleSampler::new(&Counting, &chat, &OracleSettings::default(), &[plan(1)]).unwrap();
    let tools = ToolRuntime::new().unwrap();
    let settings = RolloutSettings::default();
    let episodes = roll_out(vec![plan(0)], &Counting, &mut oracle, &chat, &settings, &tools, &mut |_| {});
    let End::Failed { fault } = &episodes[0].end else { panic!("{:?}", episodes[0].end) };
    assert_eq!(fault.boundary, Boundary::Model);
    assert!(fault.message.contains("was not given the plan"), "{}", fault.message);
}

#[test]
fn a_misspelt_setting_is_refused_by_name() {
    let refused = serde_json::from_str::<OracleSettings>(r#"{"skil": 1}"#).unwrap_err().to_string();
    assert!(refused.contains("unknown field `skil`"), "{refused}");
}
