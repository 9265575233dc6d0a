//! Components in Python, through a whole run: a world, a reward term and a tool of one's own files.

use crate::tiny::{RECIPE, say};
use merit_core::{End, TermOutcome};
use merit_store::RunFolder;
use std::path::Path;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/python");

/// A world whose process dies with every fifth seed, and a term.
const MINE: &str = r#"
import os
class Env:
    def __init__(self, high, mortal=False): self.high, self.mortal = high, mortal
    def reset(self, seed): self.secret, self.seed = seed % self.high + 1, seed; return f"1 to {self.high}"
    def step(self, action):
        if self.mortal and self.seed % 5 == 0: os._exit(3)
        right = action == str(self.secret)
        return "yes" if right else "no", float(right), right, {}
    def expert(self, task): return str(task["seed"] % self.high + 1)
def turns(episode):
    print("counting")
    return len(episode["turns"])
"#;

fn train(dir: &Path, world: &str, reward: &str) -> crate::tiny::Said {
    let set = ["train", RECIPE, "--run", "run", "--set", world, "--set", reward];
    // Demonstrations have to come to their end.
    let small = [
        "warm_start.world={settings={high=4,mortal=false}}",
        "budget.steps=2",
        "controls=[]",
        "evaluation.every=0",
        "rollout.max_turns=3",
    ];
    say(dir, set.into_iter().chain(small.into_iter().flat_map(|set| ["--set", set])))
}

const REWARD: &str = "reward={type='solved-by',term='environment-reward',of={type='sum',of=[\
    {type='environment-reward'},{type='python',name='turns',module='mine:turns',weight=-0.1}]}}";

#[test]
fn a_recipe_trains_in_a_python_world_with_a_python_term_and_what_dies_is_recorded_as_failed() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("mine.py"), MINE).unwrap();
    let world = "world={type='python',module='mine:Env',settings={high=4,mortal=true}}";
    train(dir.path(), world, REWARD).well();
    let folder = RunFolder::open_read_only(&dir.path().join("run")).unwrap();
    let episodes = folder.episodes(&Default::default()).unwrap();
    let (mut failed, mut scored) = (0, 0);
    for stored in &episodes {
        let episode = &stored.scored.episode;
        let dies = episode.task.payload["task"]["seed"].as_u64().unwrap() % 5 == 0;
        if matches!(episode.end, End::Failed { .. }) {
            assert!(dies && stored.scored.score.is_none(), "{:?}", episode.end);
            failed += 1;
            continue;
        }
        let score = stored.scored.score.as_ref().unwrap();
        let term = score.terms.iter().find(|term| term.name == "turns").unwrap();
        assert_eq!(term.outcome, TermOutcome::Value { value: episode.turns.len() as f64 });
        scored += 1;
    }
    assert!(failed > 0 && scored > 20, "{failed} of {}", episodes.len());
}

#[test]
fn what_is_missing_is_said_before_a_run_begins() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("mine.py"), MINE).unwrap();
    let fine = "world={type='python',module='mine:Env',settings={high=4}}";
    for (world, reward, why) in [
        (
            "world={type='python',module='mine:Evn'}",
            REWARD.to_owned(),
            "`mine` has no `Evn` (did you mean `Env`?)",
        ),
        (fine, REWARD.replace("mine:turns", "yours:turns"), "`python3` has no module `yours`"),
    ] {
        let said = train(dir.path(), world, &reward);
        assert_ne!(said.code, Some(0));
        assert!(said.err.contains(why), "{}", said.err);
    }
}

#[test]
fn the_page_on_python_shows_its_programs_as_they_are() {
    let page = std::fs::read_to_string(Path::new(DOCS).join("../python-components.md")).unwrap();
    let programs: String = ["guess", "terms", "tools"]
        .map(|name| std::fs::read_to_string(Path::new(DOCS).join(format!("{name}.py"))).unwrap())
        .concat();
    let shown: Vec<&str> =
        page.split("```python\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(shown.len(), 3);
    for program in shown {
        assert!(programs.contains(program), "{program}");
    }
}

#[test]
fn a_tool_is_tried_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let module = format!("module={DOCS}/tools.py:convert");
    let input = r#"{"amount": 5, "unit": "km"}"#;
    let said = say(dir.path(), ["tool", "run", "python-tool", input, "--set", &module]).well();
    assert!(said.out.contains("3.107 miles"), "{}", said.out);
}
