//! A Python class as a world: it keeps the contract, its mistakes are named before a run, and whatever its process does wrong is a
//! failure of that episode.

use merit_api::conformance::check_world;
use merit_core::{Action, Seed, Split};
use merit_env::{Env, EnvError, LiveTools, StepResult, Termination, World, read_world};
use merit_testing::{GYM, present, root};
use std::cell::RefCell;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// A folder that is gone with the thread of the test.
fn folder() -> PathBuf {
    thread_local! {
        static KEPT: RefCell<Vec<TempDir>> = const { RefCell::new(Vec::new()) };
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    KEPT.with_borrow_mut(|kept| kept.push(folder));
    path
}

/// A module with this text, as `module` names it.
fn written(text: &str, name: &str) -> String {
    let file = folder().join("mine.py");
    std::fs::write(&file, text).unwrap();
    format!("{}:{name}", file.display())
}

fn document(name: &str) -> String {
    root().join("docs/python").join(name).display().to_string()
}

fn build(module: &str, more: &str) -> Result<Box<dyn World>, String> {
    let settings = read_world(&format!("type = \"python\"\nmodule = {module:?}\n{more}\n"));
    settings.map_err(|error| error.to_string())?.build(&LiveTools).map_err(|error| error.to_string())
}

fn world(module: &str, more: &str) -> Box<dyn World> {
    build(module, more).unwrap()
}

fn open(world: &dyn World, index: u64) -> Box<dyn Env> {
    let task = Arc::new(world.task(Split::Train, index, &Seed::root(1)).unwrap());
    world.open(&task, &Seed::root(1), None).unwrap()
}

fn say(env: &mut dyn Env, text: &str) -> Result<StepResult, EnvError> {
    let action = env.parse(text);
    env.step(&action, &[])
}

fn said(env: &mut dyn Env, text: &str) -> String {
    say(env, text).unwrap().observations.into_iter().map(|message| message.text).collect()
}

#[test]
fn a_plain_class_keeps_the_contract_and_its_expert_solves_it() {
    let guess = world(&document("guess.py:Guess"), "settings = { high = 30 }");
    assert!(guess.expert().is_some());
    assert_eq!(check_world(guess.as_ref(), &Seed::root(1), 4), Vec::<String>::new());
    let mut env = open(guess.as_ref(), 0);
    assert_eq!(env.reset().unwrap()[0].text, "Guess a number from 1 to 30.");
    let step = say(env.as_mut(), "0\n").unwrap();
    assert_eq!((step.observations[0].text.as_str(), step.reward, step.is_last()), ("low", Some(0.0), false));
    assert!(step.info["distance"] >= 1.0);
    let odd = say(env.as_mut(), "a number").unwrap();
    assert!(odd.observations[0].text.contains("invalid literal"), "{odd:?}");
    assert_eq!((odd.reward, odd.is_last()), (None, false));
}

#[test]
fn tasks_of_the_class_itself_are_dealt_by_their_content() {
    let capitals = world(&document("capitals.py:Capitals"), "instructions = \"One word.\"");
    assert_eq!(check_world(capitals.as_ref(), &Seed::root(1), 4), Vec::<String>::new());
    let of = |split| -> HashSet<String> {
        (0..40).map(|at| capitals.task(split, at, &Seed::root(at)).unwrap().id).collect()
    };
    let (train, held_out) = (of(Split::Train), of(Split::HeldOut));
    assert!(train.is_disjoint(&held_out));
    assert!(train.len() + held_out.len() <= 12, "{train:?} {held_out:?}");
    let task = Arc::new(capitals.task(Split::HeldOut, 0, &Seed::root(1)).unwrap());
    let right = task.answer.clone().unwrap();
    let mut env = capitals.open(&task, &Seed::root(1), None).unwrap();
    let first: Vec<String> = env.reset().unwrap().into_iter().map(|message| message.text).collect();
    assert_eq!(first[0], "One word.");
    assert!(first[1].starts_with("The capital of "), "{first:?}");
    let step = say(env.as_mut(), &right).unwrap();
    assert_eq!((step.reward, step.terminated), (Some(1.0), Some(Termination::Done)));
}

#[test]
fn seeds_are_parted_between_the_splits_and_a_seed_is_one_task() {
    let guess = world(&document("guess.py:Guess"), "seeds = 40");
    let of = |split| -> HashSet<String> {
        let tasks = (0..60).map(|at| guess.task(split, at, &Seed::root(at)).unwrap());
        tasks.map(|task| task.payload.to_string()).collect()
    };
    let (train, held_out) = (of(Split::Train), of(Split::HeldOut));
    assert!(train.is_disjoint(&held_out) && train.len() + held_out.len() <= 40);
    assert!(train.len() > 5 && held_out.len() > 5, "{train:?} {held_out:?}");
}

/// Spaces as Gymnasium has them, as far as the worker looks at them; observations of every kind.
const SPACES: &str = r#"
import random
class Discrete:
    n, start = 3, -1
class Dict:
    pass
class Env:
    action_space = Discrete()
    def reset(self, *, seed=None, options=None):
        self.drawn = random.random()
        return [0.123456, -0.0000001, 12345.678, 3, True, 1e20], {}
    def step(self, action):
        assert isinstance(action, int)
        print("this is no answer", action)
        return {"at": (action, 0.5), "drawn": self.drawn}, 1, action == 1, action == 0, {"n": action, "name": "x", "far": float("inf")}
class Odd(Env):
    action_space = Dict()
class Parsed(Odd):
    def parse(self, text):
        if text not in ("left", "right"):
            raise ValueError("say left or right")
        return -1 if text == "left" else 1
class Short(Env):
    def step(self, action):
        return "text"
class Surrogate:
    def reset(self, seed): return "\ud800 half"
    def step(self, action): return "x" * 20000, None, False
    def state_to_record(self): return {"n": 1}
"#;

#[test]
fn observations_are_readable_text_and_texts_become_actions() {
    let spaces = world(&written(SPACES, "Env"), "");
    let mut env = open(spaces.as_ref(), 0);
    assert_eq!(env.reset().unwrap()[0].text, "[0.1235, -1e-07, 12345.68, 3, True, 1e+20]");
    for text in ["2", "-2", "left", "1.0", "٣"] {
        assert_eq!(said(env.as_mut(), text), "say a whole number from -1 to 1", "{text}");
    }
    let step = say(env.as_mut(), " -1 ").unwrap();
    assert!(step.observations[0].text.starts_with("at: [-1, 0.5]\ndrawn: 0."), "{step:?}");
    assert_eq!(step.info, merit_core::Info::from([("n", -1.0)]));
    // What draws from Python's own generator draws the same for the same task.
    let mut again = open(spaces.as_ref(), 0);
    again.reset().unwrap();
    assert_eq!(said(again.as_mut(), "-1"), step.observations[0].text);
    let cut = say(env.as_mut(), "0").unwrap();
    assert!(cut.truncated && cut.terminated.is_none());
    assert!(say(again.as_mut(), "1").unwrap().terminated == Some(Termination::Done));

    let parsed = world(&written(SPACES, "Parsed"), "");
    let mut env = open(parsed.as_ref(), 0);
    env.reset().unwrap();
    assert_eq!(said(env.as_mut(), "up"), "say left or right");
    assert!(said(env.as_mut(), "left").starts_with("at: [-1, 0.5]"));

    let surrogate = world(&written(SPACES, "Surrogate"), "");
    let mut env = open(surrogate.as_ref(), 0);
    assert_eq!(env.reset().unwrap()[0].text, "? half");
    assert_eq!(env.snapshot()["state"]["n"], 1);
    assert!(said(env.as_mut(), "go").ends_with("x… (12000 more characters)"));

    let short = world(&written(SPACES, "Short"), "");
    let mut env = open(short.as_ref(), 0);
    env.reset().unwrap();
    let error = say(env.as_mut(), "0").unwrap_err().to_string();
    assert!(error.contains("`step` must give (observation, reward, terminated"), "{error}");
}

#[test]
fn what_cannot_be_a_world_is_named_when_it_is_built() {
    let broken = "import no_such_package\n";
    let wrong = "class Env:\n    def reset(self, seed): pass\n    def step(self): pass\n";
    let no_seed = "class Env:\n    def reset(self): pass\n    def step(self, action): pass\n";
    let listed = "class Env(object):\n    def tasks(self): return [1]\n    def reset(self, seed): pass\n    def step(self, a): pass\n";
    let few = "class Env(object):\n    def tasks(self): return [1]\n    def reset(self, task): pass\n    def step(self, a): pass\n";
    let raises = "class Env:\n    def __init__(self): raise OSError('no data')\n";
    for (module, more, why) in [
        ("no_such_module:Env".to_owned(), "", "`python3` has no module `no_such_module`"),
        ("no/such/file.py:Env".to_owned(), "", "there is no file"),
        (written(SPACES, "Evn"), "", "has no `Evn` (did you mean `Env`?)"),
        (written(SPACES, "Odd"), "", "has no text form"),
        (written(SPACES, "random"), "", "cannot be made: TypeError"),
        (written(broken, "Env"), "", "imports `no_such_package`, which `python3` does not have"),
        (written("class Env(:\n", "Env"), "", "SyntaxError"),
        (written("1 / 0\n", "Env"), "", "ZeroDivisionError: division by zero"),
        (written("import sys; sys.exit(3)", "Env"), "", "SystemExit: 3"),
        (written("import os; os._exit(3)", "Env"), "", "it ended with exit status: 3"),
        (written("class Env: pass\n", "Env"), "", "has no `reset`"),
        (written(wrong, "Env"), "", "`step()` cannot be called as merit calls it"),
        (written(no_seed, "Env"), "", "must take `seed`"),
        (written(listed, "Env"), "", "`reset` must take `task`"),
        (written(few, "Env"), "", "none of its 1 tasks is a"),
        (written(raises, "Env"), "", "OSError: no data"),
        (document("guess.py:Guess"), "settings = { hihg = 3 }", "unexpected keyword argument 'hihg'"),
        (document("guess.py:Guess"), "python = \"/no/such/python\"", "it cannot be started"),
        (document("guess.py:Guess"), "start_s = 0.001", "gave no answer in 0.001 s"),
        ("mine".to_owned(), "", "give a module and a name in it"),
        (document("guess.py:Guess"), "seeds = 1", "`seeds` is 1; it must be at least 16"),
    ] {
        let error = build(&module, more).err().unwrap_or_else(|| panic!("{module} is built"));
        assert!(error.contains(why), "{module}: {error}");
        assert!(error.len() < 600, "{error}");
    }
}

/// Does what it is told.
const FOUL: &str = r#"
import ctypes, fcntl, os, signal, sys, time
def writable(fd):
    if not os.path.exists(f"/proc/self/fd/{fd}") or "pipe" not in os.readlink(f"/proc/self/fd/{fd}"): return False
    return fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
class Env:
    def __init__(self): self.steps = 0
    def reset(self, seed): self.steps = 0; return "?"
    def step(self, action):
        self.steps += 1
        if action == "exit": os._exit(7)
        if action == "kill": os.kill(os.getpid(), signal.SIGKILL)
        if action == "segfault": ctypes.string_at(0)
        if action == "hang": time.sleep(60)
        if action == "raise": {}["door"]
        if action == "leave": sys.exit("done with this")
        if action == "huge": return "", float("nan"), False
        if action == "garbage": [os.write(fd, b"nonsense\n") for fd in range(3, 20) if writable(fd)]
        if action == "flood": print("x" * 10_000_000)
        if action == "read": return repr(sys.stdin.read()), None, False
        return f"{self.steps}", 1.0, False
"#;

#[test]
fn what_a_process_does_wrong_is_an_infrastructure_failure_and_the_next_episode_is_fine() {
    let foul = world(&written(FOUL, "Env"), "timeout_s = 2.0");
    for (act, why) in [
        ("exit", "it ended with exit status: 7"),
        ("kill", "it was killed (signal 9"),
        ("segfault", "signal: 11"),
        ("hang", "gave no answer in 2 s"),
        ("raise", "KeyError: 'door'"),
        ("leave", "SystemExit: done with this"),
        ("huge", "ValueError"),
        ("garbage", "no JSON object"),
    ] {
        let mut env = open(foul.as_ref(), 0);
        env.reset().unwrap();
        assert_eq!(said(env.as_mut(), "go"), "1");
        let error = say(env.as_mut(), act).unwrap_err();
        let found = matches!(&error, EnvError::Broken { why: found, .. } if found.contains(why));
        assert!(found, "{act}: {error}");
        // The rest of the episode is lost too, and never played in a world that is at its start.
        assert!(matches!(say(env.as_mut(), "go"), Err(EnvError::Broken { .. })), "{act}");
        drop(env);
        let mut next = open(foul.as_ref(), 1);
        next.reset().unwrap();
        assert_eq!(said(next.as_mut(), "go"), "1", "{act}");
    }
    let mut env = open(foul.as_ref(), 2);
    env.reset().unwrap();
    assert_eq!(said(env.as_mut(), "flood"), "1");
    assert_eq!(said(env.as_mut(), "read"), "''");
}

/// Ends its process at the second to fifth step of an episode, by the seed, on odd seeds.
const MORTAL: &str = r#"
import os
class Env:
    def reset(self, seed): self.seed, self.steps = seed, 0; return str(seed)
    def step(self, action):
        self.steps += 1
        if self.seed % 2 and self.steps == 2 + self.seed % 4: os._exit(1)
        return f"{self.seed} {self.steps}", float(self.steps), self.steps == 6
"#;

/// An interpreter that skips what takes long: the search for it, and what a site adds.
fn quick_python() -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let file = folder().join("python");
    let itself =
        std::process::Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let itself = String::from_utf8(itself.unwrap().stdout).unwrap();
    std::fs::write(&file, format!("#!/bin/sh\nexec '{}' -S -E \"$@\"\n", itself.trim())).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file.display().to_string()
}

#[test]
fn of_hundreds_of_processes_that_die_none_takes_another_episode_along_or_pays_wrongly() {
    let mortal = world(&written(MORTAL, "Env"), &format!("python = {:?}", quick_python()));
    let (broke, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let episode = |index: u64| {
        let task = Arc::new(mortal.task(Split::Train, index, &Seed::root(1)).unwrap());
        let seed = task.payload["task"]["seed"].as_u64().unwrap();
        let mut env = mortal.open(&task, &Seed::root(index), None).unwrap();
        assert_eq!(env.reset().unwrap()[0].text, seed.to_string());
        for turn in 1..=6 {
            match env.step(&Action::Say { text: "go".to_owned() }, &[]) {
                Ok(step) => {
                    assert_eq!(step.observations[0].text, format!("{seed} {turn}"));
                    assert_eq!((step.reward, step.is_last()), (Some(turn as f64), turn == 6));
                }
                Err(EnvError::Broken { .. }) => {
                    assert_eq!((seed % 2, turn), (1, 2 + seed % 4));
                    broke.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(seed % 2, 0);
        done.fetch_add(1, Ordering::Relaxed);
    };
    std::thread::scope(|scope| {
        for part in 0..4 {
            scope.spawn(move || (0..110).for_each(|at| episode(part * 110 + at)));
        }
    });
    let (broke, done) = (broke.into_inner(), done.into_inner());
    assert_eq!(broke + done, 440);
    assert!(broke >= 160, "{broke}");
}

/// A class of Gymnasium's kind whose reset tells where the secret is, to whoever evaluates.
const TOLD_AT_RESET: &str = r#"
class Env:
    def reset(self, seed): self.secret = seed % 90 + 10; return "guess", {"secret": self.secret, "distance": 7.5}
    def step(self, action): return "no", 0.0, False, False, {"secret": self.secret, "distance": 7.5}
"#;

#[test]
fn the_info_of_a_reset_is_shown_to_nobody() {
    let world = world(&written(TOLD_AT_RESET, "Env"), &format!("python = {:?}", quick_python()));
    for index in 0..3 {
        let mut env = open(world.as_ref(), index);
        let shown: Vec<String> = env.reset().unwrap().into_iter().map(|message| message.text).collect();
        assert_eq!(shown, ["guess"]);
        let step = say(env.as_mut(), "3").unwrap();
        assert_eq!((step.observations[0].text.as_str(), step.info["distance"]), ("no", 7.5));
    }
}

fn gym() -> Option<String> {
    let python = present(GYM, root().join(".cache/gym/bin/python"))?;
    Some(format!("python = {:?}", python.display().to_string()))
}

#[test]
fn gymnasium_environments_are_worlds() {
    let Some(python) = gym() else { return };
    let cart = world("gymnasium:make", &format!("{python}\nsettings = {{ id = \"CartPole-v1\" }}"));
    assert_eq!(check_world(cart.as_ref(), &Seed::root(1), 2), Vec::<String>::new());
    let mut env = open(cart.as_ref(), 0);
    let first = env.reset().unwrap()[0].text.clone();
    assert!(first.starts_with('[') && first.split(", ").count() == 4 && first.len() < 50, "{first}");
    assert_eq!(said(env.as_mut(), "push left"), "say a whole number from 0 to 1");
    let mut steps = 0;
    let last = loop {
        let step = say(env.as_mut(), "1").unwrap();
        assert_eq!(step.reward, Some(1.0));
        steps += 1;
        if step.is_last() {
            break step;
        }
    };
    // Pushed to one side only, the pole falls after about ten steps.
    assert!((5..20).contains(&steps) && last.terminated == Some(Termination::Done), "{steps}");

    let pendulum = world("gymnasium:make", &format!("{python}\nsettings = {{ id = \"Pendulum-v1\" }}"));
    let mut env = open(pendulum.as_ref(), 0);
    env.reset().unwrap();
    assert_eq!(said(env.as_mut(), "5"), "say a number from -2 to 2");
    assert!(say(env.as_mut(), "[-0.5]").unwrap().reward.unwrap() < 0.0);

    let missing = build("gymnasium:make", &format!("{python}\nsettings = {{ id = \"CratPole-v1\" }}"));
    let error = missing.err().unwrap();
    assert!(error.contains("NameNotFound") && error.contains("Did you mean: `CartPole`"), "{error}");
    // Without what a site adds there is no Gymnasium, wherever it is installed.
    let alone = quick_python();
    let bare = build("gymnasium:make", &format!("python = {alone:?}\nsettings = {{ id = \"CartPole-v1\" }}"));
    let error = bare.err().unwrap();
    assert!(error.contains(&format!("`{alone}` has no module `gymnasium`")), "{error}");
}

/// An environment of Gymnasium's own kind, with any of its spaces.
const GYM_SPACES: &str = r#"
import gymnasium, numpy
from gymnasium import spaces
SPACES = {
    "multi": spaces.MultiDiscrete([3, 2]),
    "binary": spaces.MultiBinary(3),
    "text": spaces.Text(4),
    "box": spaces.Box(numpy.array([-1, 0]), numpy.array([1, 5]), dtype=numpy.float32),
    "whole": spaces.Box(0, 9, (1, 2), dtype=numpy.int32),
    "open": spaces.Box(-numpy.inf, numpy.inf, (2,)),
    "dict": spaces.Dict({"x": spaces.Discrete(2)}),
}
class Env(gymnasium.Env):
    def __init__(self, space): self.action_space = SPACES[space]
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return numpy.array([[0.5, 1 / 3]], dtype=numpy.float32), {}
    def step(self, action):
        assert self.action_space.contains(action), action
        return {"took": action}, numpy.float64(1), numpy.bool_(False), False, {"three": numpy.int64(3)}
"#;

#[test]
fn every_space_of_gymnasium_has_a_text_or_is_refused() {
    let Some(python) = gym() else { return };
    let module = written(GYM_SPACES, "Env");
    for (space, good, took, bad, words) in [
        ("multi", "2, 1", "[2, 1]", "3 1", "say 2 whole numbers: 0 to 2, 0 to 1"),
        ("binary", "[1 0 1]", "[1, 0, 1]", "1 0", "say 3 numbers, each 0 or 1"),
        ("text", "abc", "abc", "a b", "say a text of 1 to 4 of the characters that are allowed"),
        ("box", "-0.5 2", "[-0.5, 2]", "2 2", "say 2 numbers: -1 to 1, 0 to 5"),
        ("whole", "9 0", "[[9, 0]]", "0.5 1", "say 2 numbers, each from 0 to 9"),
        ("open", "1e3 -2", "[1000, -2]", "1e400 nan", "say 2 numbers, each from -inf to inf"),
    ] {
        let world = world(&module, &format!("{python}\nsettings = {{ space = {space:?} }}"));
        let mut env = open(world.as_ref(), 0);
        assert_eq!(env.reset().unwrap()[0].text, "[[0.5, 0.3333]]");
        assert_eq!(said(env.as_mut(), bad), words);
        let step = say(env.as_mut(), good).unwrap();
        assert_eq!(step.observations[0].text, format!("took: {took}"));
        assert_eq!((step.reward, step.info["three"], step.is_last()), (Some(1.0), 3.0, false));
    }
    let error = build(&module, &format!("{python}\nsettings = {{ space = \"dict\" }}")).err().unwrap();
    assert!(error.contains("has no text form") && error.contains("`parse(text)`"), "{error}");
}

#[test]
fn a_game_of_textarena_is_a_world() {
    let Some(python) = gym() else { return };
    let more = format!("{python}\nsettings = {{ game = \"GuessTheNumber-v0\" }}");
    let game = world(&document("textarena_game.py:Game"), &more);
    let mut env = open(game.as_ref(), 0);
    assert!(env.reset().unwrap()[0].text.contains("Guess The Number"));
    let (mut low, mut high) = (1, 20);
    for _ in 0..6 {
        let guess = (low + high) / 2;
        let step = say(env.as_mut(), &format!("[{guess}]")).unwrap();
        if step.is_last() {
            assert_eq!((step.reward, step.terminated), (Some(1.0), Some(Termination::Done)));
            return;
        }
        let text = &step.observations[0].text;
        assert!(text.contains("higher") || text.contains("lower"), "{text}");
        (low, high) = if text.contains("higher") { (guess + 1, high) } else { (low, guess - 1) };
    }
    panic!("halving 20 numbers takes at most five guesses");
}
