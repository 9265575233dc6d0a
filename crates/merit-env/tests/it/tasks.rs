//! Tasks from files: what a line may say, how calls are read and answered, and what is refused.

use merit_api::conformance::check_world;
use merit_core::Components;
use merit_core::{Action, CallEnd, CallRecord, Message, Role, Seed, Split, Task, ToolCall};
use merit_core::{Move, TaskLine};
use merit_env::tasks::{SAMPLES, TaskWorld, Tasks};
use merit_env::{Env, EnvError, Expert as _, ExpertTurn, LiveTools, Termination, World, read_world};
use merit_tools::formats::CALL_FORMATS;
use merit_tools::{ToolAnswer, call_blocking, example_settings, tool};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A file of tasks that is removed with the test.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("merit-tasks-{}-{name}.jsonl", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    /// A world of this file with these further settings.
    fn config(&self, settings: &str) -> Tasks {
        read(&format!("file = {:?}\n{settings}", self.0.to_str().unwrap()))
    }
}

fn read(settings: &str) -> Tasks {
    merit_tools::register(Components::default()).reading(|| toml::from_str(settings)).unwrap()
}

fn build(settings: &Tasks) -> TaskWorld {
    TaskWorld::new(settings, &LiveTools).unwrap()
}

impl Drop for File {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

#[test]
fn a_mark_at_the_start_of_the_file_is_no_part_of_it_and_an_array_is_named() {
    let line = "{\"prompt\": \"a\", \"answer\": \"b\", \"split\": \"train\"}\n";
    let file = File::new("mark", &format!("\u{feff}{line}"));
    let tasks = build(&file.config("tools = []\ncalls = \"hermes\""));
    assert_eq!(tasks.task(Split::Train, 0, &Seed::root(1)).unwrap().payload["prompt"], "a");
    assert!(
        error("array", &format!("[{line}]"), "tools = []\ncalls = \"hermes\"")
            .contains("one JSON array; write one object a line")
    );
    let unknown = error("unknown", "{\"prompt\": \"a\", \"answr\": \"b\"}", "tools = []\ncalls = \"hermes\"");
    assert!(
        unknown.contains("unknown field `answr`") && unknown.contains("(did you mean `answer`?)"),
        "{unknown}"
    );
}

const TOOLS: &str = "tools = [{ type = \"calc\" }, { type = \"lookup\" }]\ncalls = \"hermes\"\n";

fn open(tasks: &TaskWorld, split: Split) -> (Arc<Task>, Box<dyn Env>) {
    let task = Arc::new(tasks.task(split, 0, &Seed::root(1)).unwrap());
    let env = tasks.open(&task, &Seed::root(1), None).unwrap();
    (task, env)
}

fn error(name: &str, text: &str, settings: &str) -> String {
    let file = File::new(name, text);
    let error =
        TaskWorld::new(&file.config(settings), &LiveTools).err().expect("it must be refused").to_string();
    error.replace(file.0.to_str().unwrap(), "FILE")
}

#[test]
fn the_sample_keeps_the_contract_in_every_format_and_without_words() {
    let formats = CALL_FORMATS.iter().filter(|format| format.about.name != "code-tags");
    for format in formats {
        let text = format!("type = \"tasks\"\ncalls = \"{}\"\n", format.about.name);
        let world = read_world(&text).unwrap().build(&LiveTools).unwrap();
        let found = check_world(world.as_ref(), &Seed::root(3), 12);
        assert_eq!(found, Vec::<String>::new(), "{text}");
    }
    let config =
        read_world("type = \"tasks\"\nadvertise = false\ninstructions = \"\"\nheld_out = 0.5\n").unwrap();
    let tasks = config.build(&LiveTools).unwrap();
    assert_eq!(check_world(tasks.as_ref(), &Seed::root(3), 12), Vec::<String>::new());
    let task = Arc::new(tasks.task(Split::Train, 0, &Seed::root(1)).unwrap());
    assert_eq!(tasks.open(&task, &Seed::root(1), None).unwrap().reset().unwrap().len(), 1);
}

#[test]
fn the_moves_of_the_samples_are_what_the_tools_say() {
    for sample in SAMPLES {
        for line in sample.text.lines() {
            let line: TaskLine = serde_json::from_str(line).unwrap();
            let task = Task {
                id: "t".into(),
                world: "tasks".into(),
                version: 1,
                split: Split::Train,
                size: 1,
                payload: serde_json::Value::Object(line.payload.clone()),
                answer: None,
            };
            let mut last = String::new();
            for gold in &line.gold_moves {
                match gold {
                    Move::Call { tool: name, input, output } => {
                        let tool = example_settings(&tool(name).unwrap()).unwrap().build_one().unwrap();
                        let session = tool.open(&task, None).unwrap();
                        let answer = call_blocking(&session, input, Duration::from_secs(5));
                        assert_eq!(answer, Ok(ToolAnswer::Ok(output.clone())), "{}", line.prompt);
                        last.clone_from(output);
                    }
                    Move::Answer { text } => assert_eq!(*text, last),
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(line.answer, Some(last));
        }
    }
}

#[test]
fn every_task_is_dealt_once_a_pass_and_in_one_split_only() {
    let tasks = build(&Tasks::default());
    let mut ids = HashSet::new();
    for split in [Split::Train, Split::HeldOut] {
        let count = tasks.count(split) as u64;
        assert!(count >= 4, "{split:?} has {count}");
        for index in 0..count {
            assert!(ids.insert(tasks.task(split, index, &Seed::root(9)).unwrap().id));
        }
    }
    assert_eq!(ids.len(), SAMPLES[0].text.lines().count());
}

#[test]
fn calls_are_read_and_answered_in_the_wording_of_the_format() {
    let file = File::new(
        "wording",
        "{\"prompt\": \"How much is a mug?\", \"answer\": \"47\", \"payload\": {\"table\": {\"mug\": 47}}, \"split\": \"train\"}\n",
    );
    let settings = format!(
        "{TOOLS}instructions = \"Be brief.\"\nobservations = {{ chars = 5, at = \"right\", marker = \"~\" }}"
    );
    let tasks = build(&file.config(&settings));
    assert!(tasks.expert().is_none());
    let (task, mut env) = open(&tasks, Split::Train);
    let opening = env.reset().unwrap();
    assert_eq!(opening[1], Message::new(Role::User, "How much is a mug?"));
    assert!(
        opening[0].text.starts_with("Be brief.\n\n# Tools") && opening[0].text.contains("\"lookup\""),
        "{opening:?}"
    );
    assert!(!opening[0].text.contains("47"));

    let said =
        "Let me see.\n<tool_call>\n{\"name\": \"lookup\", \"arguments\": {\"name\": \"mug\"}}\n</tool_call>";
    let action = env.parse(said);
    let call = ToolCall { tool: "lookup".into(), input: "mug".into() };
    assert_eq!(action, Action::Calls { calls: vec![call.clone()] });
    let record = CallRecord { call, end: CallEnd::Ok, output: "0123456789".into(), seconds: None };
    let result = env.step(&action, &[record]).unwrap();
    assert_eq!(result.observations, [Message::new(Role::Tool, "<tool_response>\n0123~\n</tool_response>")]);

    let action = env.parse("<tool_call>{\"name\": \"lookup\"}</tool_call>");
    let result = env.step(&action, &[]).unwrap();
    assert!(!result.is_last());
    assert!(result.observations[0].text.starts_with("the call has no `arguments`; write <tool_call>"));

    assert!(matches!(env.parse("  \n"), Action::Malformed { .. }));
    assert_eq!(env.parse("<think>hm</think>\n\n47\n"), Action::Answer { text: "47".into() });
    assert_eq!(env.step(&env.parse("47"), &[]).unwrap().terminated, Some(Termination::Answered));
    let over = env.step(&env.parse("47"), &[]).unwrap_err();
    assert!(matches!(&over, EnvError::Broken { why, .. } if why.contains("after its end")), "{over}");
    assert_eq!(task.answer.as_deref(), Some("47"));
}

#[test]
fn with_a_mark_only_what_follows_it_is_the_answer() {
    let (_, env) = open(&build(&Tasks::default()), Split::Train);
    let hint = Action::Malformed { why: "call a tool, or write your answer behind `Answer:`".into() };
    for said in ["47", "answer: 47", "Answer:", "Answer:  \n"] {
        assert_eq!(env.parse(said), hint, "{said}");
    }
    assert_eq!(env.parse("Answer: 12? No.\nAnswer: 47 \n"), Action::Answer { text: "47".into() });
    let both = env.parse("```calc\n1+1\n```\nAnswer: 2");
    assert!(matches!(both, Action::Calls { .. }), "{both:?}");
}

#[test]
fn a_line_may_leave_tools_out() {
    let file = File::new("fewer", "{\"prompt\": \"1+1?\", \"tools\": [\"calc\"], \"split\": \"train\"}\n");
    let (_, mut env) = open(&build(&file.config(TOOLS)), Split::Train);
    assert_eq!(env.tools().len(), 1);
    assert!(!env.reset().unwrap()[0].text.contains("lookup"));
}

#[test]
fn a_demonstration_word_for_word_is_followed_even_after_a_disturbance() {
    let file = File::new(
        "demo",
        "{\"prompt\": \"1+1?\", \"answer\": \"2\", \"split\": \"train\", \"demonstration\": \
         [\"<tool_call>{\\\"name\\\": \\\"calc\\\", \\\"arguments\\\": {\\\"expression\\\": \\\"1+1\\\"}}</tool_call>\", \"2\"]}\n\
         {\"prompt\": \"2+2?\", \"answer\": \"4\", \"split\": \"train\", \"gold_moves\": [{\"type\": \"say\", \"text\": \"Easy.\"}, \
         {\"type\": \"call\", \"tool\": \"calc\", \"input\": \"2+2\"}, {\"type\": \"answer\", \"text\": \"4\"}]}\n\
         {\"prompt\": \"3+3?\", \"answer\": \"6\", \"split\": \"train\"}\n",
    );
    let tasks = build(&file.config(TOOLS));
    let say = |prompt: &str, said: &[&str], skill: f64, run: u64| {
        let all = (0..3).map(|index| tasks.task(Split::Train, index, &Seed::root(1)).unwrap());
        let task = all.into_iter().find(|task| task.payload["prompt"] == prompt).unwrap();
        let turn = |said: &&str| ExpertTurn { said: (*said).to_owned(), observed: Vec::new() };
        tasks.say(&task, &said.iter().map(turn).collect::<Vec<_>>(), skill, &Seed::root(run))
    };
    let first = say("1+1?", &[], 1.0, 1).unwrap();
    assert!(first.contains("1+1"));
    assert_eq!(say("1+1?", &["what?", &first, "hm"], 1.0, 1).unwrap(), "2");
    assert!(say("2+2?", &[], 1.0, 1).unwrap().starts_with("Easy.\n<tool_call>"));
    assert!(say("3+3?", &[], 1.0, 1).unwrap_err().to_string().contains("shows no moves for it"));
    // Without skill it guesses the answer of some task at once.
    let guesses: HashSet<String> = (0..40).map(|run| say("1+1?", &[], 0.0, run).unwrap()).collect();
    assert_eq!(guesses, HashSet::from(["2".to_owned(), "4".to_owned()]));
}

#[test]
fn lines_that_are_no_tasks_are_refused_with_their_place() {
    let good = "{\"prompt\": \"p\", \"split\": \"train\"}\n\n";
    let check = |name: &str, line: &str, why: &str| {
        let found = error(name, &format!("{good}{line}\n"), TOOLS);
        assert_eq!(found, format!("world `tasks`: FILE, line 3: {why}"));
    };
    check("a", "{\"promt\": \"p\"}", &TaskLine::read("{\"promt\": \"p\"}").unwrap_err());
    check("b", "{\"prompt\": \" \"}", "`prompt` is empty");
    check(
        "c",
        "{\"prompt\": \"p\", \"answer\": \"\"}",
        "`answer` is empty; leave it out where there is none",
    );
    check(
        "d",
        "{\"prompt\": \"p\", \"payload\": {\"prompt\": 1}}",
        "`payload` has `prompt`, a name of this world; call it otherwise",
    );
    check(
        "e",
        "{\"prompt\": \"p\", \"split\": \"held-out\"}",
        "it is the task of line 1 in the other split; keep one",
    );
    check(
        "f",
        "{\"prompt\": \"p\", \"tools\": [\"sql\"]}",
        "`tools` names `sql`, which the recipe does not have; known: calc, lookup",
    );
    check(
        "g",
        "{\"prompt\": \"p\", \"gold_moves\": [{\"type\": \"call\", \"tool\": \"calc\", \"input\": \"1\"}]}",
        "`gold_moves` must end with an answer",
    );
    check(
        "h",
        "{\"prompt\": \"p\", \"demonstration\": [\"4\", \"5\"]}",
        "`demonstration`, turn 1 answers, but it is not the last",
    );
    check("i", "{\"prompt\": \"p\", \"id\": \"a b\"}", "`id` is \"a b\"; give a name without blanks");
    check("j", "{\"prompt\": \"p\", \"size\": 0}", "`size` is 0; leave it out, or give 1 or more");
    let twice = "{\"prompt\": \"p\", \"id\": \"x\"}\n{\"prompt\": \"p\", \"id\": \"x\"}\n";
    assert!(error("k", twice, TOOLS).ends_with("line 2: its id is that of line 1"));
    assert!(error("l", "\n", TOOLS).contains("has no task to train on"));
}

/// What the parser of lines says, in the words that a file error has.
#[test]
fn settings_that_cannot_be_are_refused_with_the_reason() {
    let check = |text: &str, why: &str| {
        let found = TaskWorld::new(&read(text), &LiveTools).err().unwrap().to_string();
        assert_eq!(found, format!("world `tasks`: {why}"));
    };
    check("held_out = 1.0", "`held_out` is 1; it must be a share, 0 or more and below 1");
    check("file = \"x.jsonl\"", "`tools` is missing; list the tools of your tasks, or [] for none");
    check(
        "file = \"x.jsonl\"\ntools = []",
        "`calls` is missing; say how calls are written, as in calls = \"hermes\"",
    );
    check(
        "file = \"arithmetik\"\ntools = []\ncalls = \"hermes\"",
        "cannot read `file` arithmetik: No such file or directory (os error 2); did you mean the sample `arithmetic`?",
    );
    check(
        "observations = { chars = 3 }",
        "`observations.chars` is 3, which leaves no room beside the marker of 7 characters",
    );
    check(
        "tools = [{ type = \"calc\" }, { type = \"lookup\" }, { type = \"calc\" }]",
        "two tools are called `calc`: of `tools[0]` (calc) and of `tools[2]` (calc); leave one out",
    );
    check(
        "calls = \"code-tags\"",
        "`calls`: it calls one tool, `python`, but the tools are calc, lookup; set `tool`, or use `fenced`",
    );
    let unknown = read_world("type = \"tasks\"\nfil = \"x\"").unwrap_err().to_string();
    assert!(unknown.contains("unknown field `fil`"), "{unknown}");
}

#[test]
fn a_task_that_was_changed_is_refused() {
    let tasks = build(&Tasks::default());
    let task = tasks.task(Split::Train, 0, &Seed::root(1)).unwrap();
    let forged = Arc::new(Task { answer: Some("1".to_owned()), ..task });
    let error = tasks.open(&forged, &Seed::root(1), None).err().unwrap().to_string();
    assert!(error.contains("its payload or answer was changed"), "{error}");
}

#[test]
fn a_config_survives_its_own_toml() {
    let text =
        "type = \"tasks\"\ncalls = { type = \"mistral\", form = \"args\" }\ntools = [{ type = \"calc\" }]\n";
    let config = read_world(text).unwrap();
    assert_eq!(read_world(&toml::to_string(&config).unwrap()).unwrap(), config);
}
