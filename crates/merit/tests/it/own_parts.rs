//! A tool, a selector, a mask, an annotator and a task source from outside, each at work in a run.

use crate::own_program::{LARGER, components, own};
use merit::api::annotator::{Annotator, AnnotatorSettings};
use merit::api::conformance::check_tool;
use merit::api::{
    LiveTools, Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSettings, ToolSpec, no_state,
};
use merit::core::{Annotation, Cost};
use merit::learn::{Candidate, LearnError, Mask, Selector};
use merit::prelude::*;
use merit::run::RunError;
use merit::run::tasks::{Ask, TaskSource, TaskState};
use merit::store::{EpisodeFilter, RunFolder};
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

/// Settings without a key, which name a component.
macro_rules! settings {
    ($($Settings:ident: $name:literal, $summary:literal;)+) => {$(
        #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
        #[serde(crate = "merit::serde", deny_unknown_fields)]
        #[schemars(crate = "merit::schemars")]
        struct $Settings {}

        impl Component for $Settings {
            const ABOUT: About = About { name: $name, summary: $summary, paper: "" };
        }
    )+};
}

settings! {
    Shout: "shout", "Says it again, louder.";
    EverySecond: "every-second", "every second sample counts";
    FirstToken: "first-token", "only the first token of each sample";
    Turns: "turns", "Counts the turns of an episode.";
    Evens: "evens", "The training tasks with an even number.";
}

/// Adds all of them.
pub(crate) fn add(components: Components) -> Components {
    let components = components.with(entry!(Shout as dyn ToolSettings));
    let components =
        components.with(entry!(EverySecond as dyn Selector)).with(entry!(FirstToken as dyn Mask));
    components.with(entry!(Turns as dyn AnnotatorSettings)).with(entry!(Evens as dyn TaskSource))
}

static CARD: LazyLock<ToolSpec> =
    LazyLock::new(|| ToolSpec::text("shout", "Says it again, louder.", "text", "a text", "hey"));

impl ToolSettings for Shout {
    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        Ok(vec![Arc::new(self.clone())])
    }
}

impl Tool for Shout {
    fn spec(&self) -> &ToolSpec {
        &CARD
    }

    fn open(&self, _: &Task, state: Option<&serde_json::Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        no_state("shout", state)?;
        Ok(Arc::new(self.clone()))
    }
}

impl ToolSession for Shout {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        Box::pin(std::future::ready(match input.trim() {
            said if is_words(said) => ToolAnswer::Ok(said.to_uppercase()),
            _ => ToolAnswer::Refused("say words".to_owned()),
        }))
    }
}

fn is_words(said: &str) -> bool {
    (1..=80).contains(&said.len()) && said.chars().all(|letter| letter.is_ascii_alphabetic() || letter == ' ')
}

impl Selector for EverySecond {
    fn factors(&self, candidates: &[Candidate<'_>]) -> Result<Vec<f64>, LearnError> {
        Ok((0..candidates.len()).map(|at| if at % 2 == 0 { 1.0 } else { 0.0 }).collect())
    }
}

impl Mask for FirstToken {
    fn keep(&self, sample: &Sample, at: usize) -> bool {
        sample.turns.first().is_some_and(|turn| turn.start == at)
    }
}

impl AnnotatorSettings for Turns {
    fn gives(&self) -> Vec<String> {
        vec!["turns".to_owned()]
    }

    fn build(&self) -> Result<Box<dyn Annotator>, String> {
        Ok(Box::new(self.clone()))
    }
}

impl Annotator for Turns {
    fn annotate(&mut self, episode: &Episode) -> Result<Vec<Annotation>, String> {
        Ok(vec![Annotation {
            name: "turns".to_owned(),
            value: episode.turns.len() as f64,
            turns: Vec::new(),
            evidence: Vec::new(),
            by: "a count".to_owned(),
            version: String::new(),
            cost: Cost::default(),
        }])
    }
}

impl TaskSource for Evens {
    fn draw(&self, ask: &Ask<'_>, state: &mut TaskState, count: usize) -> Result<Vec<u64>, RunError> {
        let first = state.next.max(ask.step * ask.groups);
        state.next = first + count as u64;
        Ok((first..state.next).map(|at| 2 * at).collect())
    }
}

#[test]
fn an_own_tool_keeps_the_contract_and_is_called_by_hand() {
    let tool = Shout {}.build_one().unwrap();
    assert_eq!(check_tool(tool.as_ref(), &Task::new("by-hand", "by-hand")), Vec::<String>::new());
    let dir = tempfile::tempdir().unwrap();
    let said = own(dir.path(), &["tool", "run", "shout", "hey you"]).well();
    assert!(said.out.contains("HEY YOU\n"), "{}", said.out);
    // A world of the recipe has it among its tools.
    let line = |at: u32| format!("{{\"prompt\": \"Shout hey {at}.\", \"answer\": \"HEY {at}\"}}\n");
    std::fs::write(dir.path().join("t.jsonl"), (0..20).map(line).collect::<String>()).unwrap();
    let file = dir.path().join("t.jsonl").display().to_string();
    let world =
        format!("type = 'tasks'\nfile = '{file}'\ntools = [{{ type = 'shout' }}]\ncalls = 'hermes'\n");
    let world: toml::Table = toml::from_str(&world).unwrap();
    let components = components();
    let world = components.reading(|| Chosen::<dyn WorldSettings>::from_table(world, &components)).unwrap();
    let world = world.build(&LiveTools).unwrap();
    let task = world
        .task(Split::Train, 0, &Seed::root(1))
        .or_else(|_| world.task(Split::HeldOut, 0, &Seed::root(1)));
    let mut env = world.open(&Arc::new(task.unwrap()), &Seed::root(1), None).unwrap();
    let told: String = env.reset().unwrap().into_iter().map(|message| message.text).collect();
    assert!(told.contains("shout"), "{told}");
}

/// The example's recipe, with parts of one's own at work for one step.
fn trained() -> (tempfile::TempDir, Recipe) {
    let text = LARGER
        .replace("steps = 60", "steps = 20")
        .replace("steps = 12", "steps = 1")
        .replace(
            "{ type = \"brief\", weight = 0.2 }",
            "{ type = \"annotation\", key = \"turns\", weight = 0.0 }",
        )
        .replace("[learn]\n", "[learn]\nselector = \"every-second\"\nmask = \"first-token\"\n");
    let text = format!("{text}\n[tasks]\nsource = \"evens\"\n[[annotators]]\ntype = \"turns\"\n");
    let recipe = Recipe::read("own.toml", &text, &components()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    Run::create(&dir.path().join("run"), recipe.clone(), 1).unwrap().train(&mut |_| {}).unwrap();
    (dir, recipe)
}

#[test]
fn an_own_selector_mask_annotator_and_task_source_decide_what_is_learned() {
    let (dir, recipe) = trained();
    let folder = RunFolder::open_read_only(&dir.path().join("run")).unwrap();
    let last = |name: &str| folder.metric(Phase::train(), name).unwrap().last().unwrap().1;
    // Of 64 samples every second one counts, with one token each.
    let (used, left_out) = (last("samples_used"), last("samples_deselected"));
    assert!(used > 0.0 && (0.0..=1.0).contains(&(used - left_out)), "{used} used, {left_out} left out");
    assert_eq!(last("tokens"), used, "one token of each sample");
    let played = folder.episodes(&EpisodeFilter::phase(Phase::train())).unwrap();
    assert_eq!(played.len(), 64);
    for stored in &played {
        let scored = &stored.scored;
        let term = &scored.score.as_ref().unwrap().terms[1];
        assert_eq!(term.outcome.value(), Some(scored.episode.turns.len() as f64), "{term:?}");
    }
    let world = recipe.world.build(&LiveTools).unwrap();
    let seed = Seed::root(1).child("tasks", 0);
    let even: BTreeSet<String> =
        (0..8).map(|at| world.task(Split::Train, 2 * at, &seed).unwrap().id).collect();
    let tasks: BTreeSet<String> = played.iter().map(|stored| stored.scored.episode.task.id.clone()).collect();
    assert_eq!(tasks, even);
}
