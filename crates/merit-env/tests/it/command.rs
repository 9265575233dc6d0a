//! A world in another language: it keeps the contract, and whatever its program does wrong is a failure of that episode.

use merit_api::conformance::check_world;
use merit_core::{Seed, Split};
use merit_env::{Env, EnvError, LiveTools, Termination, World, read_world};
use std::sync::Arc;

const GUESS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/worlds/guess.py");

fn world(command: &[&str], more: &str) -> Box<dyn World> {
    let text = format!("type = \"command\"\ncommand = {command:?}\n{more}\n");
    read_world(&text).unwrap().build(&LiveTools).unwrap()
}

fn open(world: &dyn World) -> Box<dyn Env> {
    let task = Arc::new(world.task(Split::Train, 0, &Seed::root(1)).unwrap());
    world.open(&task, &Seed::root(1), None).unwrap()
}

#[test]
fn a_program_of_twenty_lines_keeps_the_contract() {
    let lines =
        std::fs::read_to_string(GUESS).unwrap().lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 21, "{lines}");
    let guess = world(&["python3", GUESS], "expert = true");
    assert_eq!(check_world(guess.as_ref(), &Seed::root(1), 4), Vec::<String>::new());
}

#[test]
fn reward_info_and_state_of_the_program_arrive() {
    let guess = world(&["python3", GUESS], "");
    assert!(guess.expert().is_none());
    let task = Arc::new(guess.task(Split::HeldOut, 3, &Seed::root(1)).unwrap());
    let mut env = guess.open(&task, &Seed::root(1), None).unwrap();
    assert_eq!(env.reset().unwrap()[0].text, "Guess a number from 1 to 99.");
    let secret = task.payload["task"]["secret"].as_i64().unwrap();
    let wrong = env.step(&env.parse("0\n"), &[]).unwrap();
    assert_eq!((wrong.reward, wrong.info["distance"], wrong.is_last()), (Some(0.0), secret as f64, false));
    let right = env.step(&env.parse(&format!("{secret}\n")), &[]).unwrap();
    assert_eq!((right.reward, right.terminated), (Some(1.0), Some(Termination::Done)));
    assert_eq!(env.snapshot()["state"]["tries"], 2);
    assert!(matches!(env.step(&env.parse("1"), &[]), Err(EnvError::Broken { .. })));
}

/// A program that does what its task says.
const FOUL: &str = r#"
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    reply = {"task": {"n": request.get("seed")}} if request["op"] == "task" else {"observations": ["?"]}
    if request["op"] == "step":
        what = request["action"]
        if what == "crash": sys.exit("out of cheese")
        if what == "hang": time.sleep(60)
        if what == "typo": reply["rewrad"] = 1
        if what == "error": reply = {"error": "no such door"}
        if what == "fine": reply["error"] = None
        if what == "number": reply["observations"] = [7]
        if what == "role": reply["observations"] = [{"role": "wrold", "text": "x"}]
    print(json.dumps({"id": request["id"], **reply}), flush=True)
"#;

#[test]
fn what_a_program_does_wrong_is_an_infrastructure_failure_and_the_next_episode_is_fine() {
    let foul = world(&["python3", "-c", FOUL], "timeout_s = 2.0");
    for (said, why) in [
        ("crash", "out of cheese"),
        ("hang", "gave no answer in 2 s"),
        ("typo", "unknown field `rewrad`"),
        ("error", "no such door"),
        ("number", "an observation is a text, or an object with `role`, one of `system`, `user`"),
        ("role", "unknown variant `wrold`"),
    ] {
        let mut env = open(foul.as_ref());
        env.reset().unwrap();
        let error = env.step(&env.parse(said), &[]).unwrap_err();
        assert!(
            matches!(&error, EnvError::Broken { why: found, .. } if found.contains(why)),
            "{said}: {error}"
        );
        drop(env);
        let mut next = open(foul.as_ref());
        next.reset().unwrap();
        assert_eq!(next.step(&next.parse("hello"), &[]).unwrap().observations[0].text, "?");
    }
    // An error that is null is none.
    let mut fine = open(foul.as_ref());
    fine.reset().unwrap();
    assert_eq!(fine.step(&fine.parse("fine"), &[]).unwrap().observations[0].text, "?");
}

#[test]
fn checking_a_recipe_starts_nothing_and_settings_that_cannot_work_are_refused() {
    let missing = read_world("type = \"command\"\ncommand = [\"/nowhere/program\"]").unwrap();
    let world = missing.build(&LiveTools).unwrap();
    let error = world.task(Split::Train, 0, &Seed::root(1)).unwrap_err().to_string();
    assert!(error.contains("/nowhere/program"), "{error}");
    for (settings, why) in [
        ("command = []", "`command` names no program"),
        ("command = [\"x\"]\nanswer_s = 0.0", "`timeout_s` is 0; it must be 0.001 to 3600"),
        ("command = [\"x\"]\nstops = [\"\"]", "`stops` lists an empty text"),
    ] {
        let error = read_world(&format!("type = \"command\"\n{settings}")).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_marked_answer_is_an_answer_and_ends_the_task() {
    let foul = world(&["python3", "-c", FOUL], "answer_mark = \"answer \"");
    let mut env = open(foul.as_ref());
    env.reset().unwrap();
    let result = env.step(&env.parse("answer 42\n"), &[]).unwrap();
    assert_eq!(result.terminated, Some(Termination::Answered));
}
