//! What a recording holds and how a recorded tool behaves.

use crate::tape::bench_tools::{Bench, Shelf, ask, broken, ok, task};
use merit_tools::conformance::{check_tool, example_task};
use merit_tools::{Calculator, Lookup, Tape, TapeError, Tool, ToolAnswer, Toolbox, read_tool};
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[test]
fn a_recorded_tool_answers_as_the_tool_does_and_the_tape_has_every_call() {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    let session = toolbox.wrap(Bench::adder()).open(&task("t"), None).unwrap();
    assert_eq!(ask(&session, "2"), ok("2"));
    assert_eq!(ask(&session, "x"), ToolAnswer::Refused("give a number".to_owned()));
    assert_eq!(ask(&session, "2"), ok("4"));
    let entries = toolbox.tape().unwrap().entries().unwrap();
    let seen: Vec<(u64, &str, &ToolAnswer)> =
        entries.iter().map(|call| (call.number, call.input.as_str(), &call.answer)).collect();
    let refused = ToolAnswer::Refused("give a number".to_owned());
    assert_eq!(seen, [(0, "2", &ok("2")), (1, "x", &refused), (2, "2", &ok("4"))]);
    assert!(entries.iter().all(|call| call.tool == "bench" && call.task == "t"));
    assert_eq!(entries[0].loose, entries[2].loose, "the same words, another past");
    toolbox.check().unwrap();
}

#[test]
fn an_output_is_stored_once() {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    let tool = toolbox.wrap(Arc::new(Calculator));
    for id in ["a", "b", "c"] {
        let session = tool.open(&task(id), None).unwrap();
        assert_eq!(ask(&session, "6*7"), ok("42"));
        assert_eq!(ask(&session, "40+2"), ok("42"));
    }
    let counts = toolbox.tape().unwrap().counts().unwrap();
    assert_eq!((counts.calls, counts.outputs, counts.live, counts.differing), (6, 1, 6, 0));
}

#[test]
fn recorded_tools_keep_the_contract_and_so_do_their_replays() {
    for (name, tool) in
        [("calc", Arc::new(Calculator) as Arc<dyn Tool>), ("lookup", Arc::new(Lookup) as Arc<dyn Tool>)]
    {
        let shelf = Shelf::new();
        let recording = shelf.record();
        assert_eq!(check_tool(&*recording.wrap(Arc::clone(&tool)), &example_task()), [""; 0], "{name}");
        recording.check().unwrap();
        drop(recording);
        let replay = shelf.replay();
        assert_eq!(check_tool(&*replay.wrap(tool), &example_task()), [""; 0], "{name} replayed");
        replay.check().unwrap();
    }
}

#[test]
fn every_registered_tool_that_needs_nothing_is_replayed_from_its_settings_alone() {
    let mut replayed = 0;
    for entry in merit_tools::TOOLS {
        let shelf = Shelf::new();
        let config = merit_tools::example_settings(entry).unwrap();
        if !config.needs().is_empty() {
            continue;
        }
        let recording = shelf.record();
        let Ok(tools) = recording.build(&config) else { continue };
        let examples: Vec<(String, ToolAnswer)> = tools
            .iter()
            .map(|tool| {
                let session = tool.open(&example_task(), None).unwrap();
                (tool.spec().name.clone(), ask(&session, &tool.spec().example))
            })
            .collect();
        let cards: Vec<_> = tools.iter().map(|tool| tool.spec().clone()).collect();
        drop((tools, recording));
        let tools = shelf.replay().build(&config).unwrap();
        assert_eq!(tools.iter().map(|tool| tool.spec().clone()).collect::<Vec<_>>(), cards);
        for (tool, (name, answer)) in tools.iter().zip(&examples) {
            let session = tool.open(&example_task(), None).unwrap();
            assert_eq!(ask(&session, &tool.spec().example), *answer, "{name}");
        }
        replayed += 1;
    }
    assert!(replayed >= 3, "only {replayed} tools were tried");
}

#[test]
fn the_first_answer_stands_for_whoever_has_the_same_past() {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    let tool = toolbox.wrap(Bench::fickle(false));
    let [one, two] = ["t", "t"].map(|id| tool.open(&task(id), None).unwrap());
    assert_eq!(ask(&one, "what?"), ok("call 0"));
    assert_eq!(ask(&two, "what?"), ok("call 0"), "as a replay will say");
    assert_eq!(ask(&two, "and?"), ok("call 2"), "another past, another call");
    assert_eq!(toolbox.tape().unwrap().counts().unwrap().differing, 1);
    drop((one, two, tool, toolbox));
    let replay = shelf.replay().wrap(Bench::stuck());
    let session = replay.open(&task("t"), None).unwrap();
    assert_eq!([ask(&session, "what?"), ask(&session, "and?")], [ok("call 0"), ok("call 2")]);
}

#[test]
fn a_tool_whose_state_is_not_the_recorded_one_makes_nothing_up() {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    let tool = toolbox.wrap(Bench::fickle(true));
    let [one, two] = ["t", "t"].map(|id| tool.open(&task(id), None).unwrap());
    assert_eq!([ask(&one, "a"), ask(&one, "b")], [ok("call 0"), ok("call 1")]);
    assert_eq!(ask(&two, "a"), ok("call 0"), "the first answer stands");
    assert_eq!(ask(&two, "b"), ok("call 1"), "the tape knows how it went on");
    let lost = broken(ask(&two, "c"));
    assert!(lost.contains("call 1 was answered otherwise than on the tape"), "{lost}");
    drop((one, two, tool, toolbox));
    let session = shelf.replay().wrap(Bench::stuck()).open(&task("t"), None).unwrap();
    assert_eq!([ask(&session, "a"), ask(&session, "b")], [ok("call 0"), ok("call 1")]);
    assert_eq!(broken(ask(&session, "c")), lost, "the replay breaks where the recording broke");
}

#[test]
fn an_interrupted_recording_goes_on_and_repeats_itself_word_for_word() {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    let session = toolbox.wrap(Bench::fickle(false)).open(&task("t"), None).unwrap();
    let before = [ask(&session, "a"), ask(&session, "b")];
    drop((session, toolbox));
    let again = Toolbox::record(Tape::append(&shelf.path).unwrap());
    let session = again.wrap(Bench::fickle(false)).open(&task("t"), None).unwrap();
    assert_eq!([ask(&session, "a"), ask(&session, "b")], before);
    assert_eq!(again.tape().unwrap().counts().unwrap().calls, 2);
}

#[test]
fn a_panic_is_recorded_as_a_broken_tool() {
    let shelf = Shelf::new();
    let toolbox = shelf.record();
    let tool = Bench::new(false, |_, _, _| panic!("out of cheese"));
    let session = toolbox.wrap(tool).open(&task("t"), None).unwrap();
    assert_eq!(broken(ask(&session, "x")), "panicked: out of cheese");
    drop((session, toolbox));
    let session = shelf.replay().wrap(Bench::stuck()).open(&task("t"), None).unwrap();
    assert_eq!(broken(ask(&session, "x")), "panicked: out of cheese");
}

#[test]
fn what_could_not_be_opened_cannot_be_opened_in_a_replay_either() {
    let shelf = Shelf::new();
    let error = shelf.record().wrap(Bench::adder()).open(&task("closed"), None).err().unwrap();
    let again = shelf.replay().wrap(Bench::adder()).open(&task("closed"), None).err().unwrap();
    assert_eq!(error, again);
}

#[test]
fn a_fork_of_a_session_with_state_finds_its_calls() {
    let shelf = Shelf::new();
    let record = shelf.record();
    let play = |tool: &Arc<dyn Tool>| {
        let parent = tool.open(&task("t"), None).unwrap();
        let mut said = vec![ask(&parent, "1"), ask(&parent, "2")];
        let state = parent.snapshot();
        assert!(!state.is_null(), "a session with state says so");
        let fork = tool.open(&task("t"), Some(&state)).unwrap();
        assert_eq!(fork.snapshot(), state);
        said.extend([ask(&fork, "10"), ask(&parent, "20"), ask(&fork, "30")]);
        said
    };
    let recorded = play(&record.wrap(Bench::adder()));
    assert_eq!(recorded, ["1", "3", "13", "23", "43"].map(ok));
    drop(record);
    let replay = shelf.replay();
    assert_eq!(play(&replay.wrap(Bench::stuck())), recorded);
    replay.check().unwrap();
}

#[test]
fn a_tool_without_state_has_none_when_it_is_recorded() {
    let shelf = Shelf::new();
    let record = shelf.record();
    let session = record.wrap(Arc::new(Calculator)).open(&task("t"), None).unwrap();
    ask(&session, "1+1");
    assert!(session.snapshot().is_null(), "or forks would repeat its calls");
    drop((session, record));
    let session = shelf.replay().wrap(Arc::new(Calculator)).open(&task("t"), None).unwrap();
    ask(&session, "1+1");
    assert!(session.snapshot().is_null());
}

#[test]
fn other_tools_under_the_same_settings_are_refused() {
    let shelf = Shelf::new();
    drop(shelf.record().build(&read_tool("type = \"calc\"").unwrap()).unwrap());
    let tape = Tape::append(&shelf.path).unwrap();
    assert_eq!(tape.tools().unwrap().len(), 1);
    drop(tape);
    let replay = shelf.replay();
    let error = replay.build(&read_tool("type = \"lookup\"").unwrap()).err().unwrap();
    assert!(error.to_string().contains("has no such tool; it has: calc"), "{error}");
}

#[test]
fn a_tape_that_cannot_be_written_breaks_the_call_and_is_told() {
    let shelf = Shelf::new();
    drop(Tape::create(&shelf.path).unwrap());
    let toolbox = Toolbox::record(Tape::open(&shelf.path).unwrap());
    let tool = Bench::adder();
    let calls = Arc::clone(&tool.calls);
    let opened = toolbox.wrap(tool).open(&task("t"), None);
    assert!(
        opened.err().unwrap().to_string().contains("readonly"),
        "nothing is answered that is not recorded"
    );
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    assert!(matches!(toolbox.check(), Err(TapeError::Device { .. })));
}

/// Two tools of one source that share what was written in an episode.
struct Board {
    card: merit_tools::ToolSpec,
}

type Wall = Arc<std::sync::Mutex<String>>;

struct BoardSession {
    writes: bool,
    wall: Wall,
}

impl Tool for Board {
    fn spec(&self) -> &merit_tools::ToolSpec {
        &self.card
    }

    fn open(
        &self,
        task: &merit_core::Task,
        state: Option<&serde_json::Value>,
    ) -> Result<Arc<dyn merit_tools::ToolSession>, merit_tools::ToolError> {
        self.open_beside(&merit_tools::EpisodeShared::default(), task, state)
    }

    fn open_beside(
        &self,
        shared: &merit_tools::EpisodeShared,
        _task: &merit_core::Task,
        _state: Option<&serde_json::Value>,
    ) -> Result<Arc<dyn merit_tools::ToolSession>, merit_tools::ToolError> {
        let wall: Arc<Wall> = shared.get_or("wall", Wall::default);
        Ok(Arc::new(BoardSession { writes: self.card.name == "write", wall: Arc::clone(&wall) }))
    }
}

impl merit_tools::ToolSession for BoardSession {
    fn call(self: Arc<Self>, input: String) -> merit_tools::ToolFuture {
        let mut wall = self.wall.lock().unwrap();
        if self.writes {
            *wall = input;
        }
        Box::pin(std::future::ready(ToolAnswer::Ok(wall.clone())))
    }
}

#[test]
fn tools_that_share_a_state_are_told_apart_by_what_was_done_to_it() {
    let shelf = Shelf::new();
    let record = shelf.record();
    let board = |name: &str| {
        let card = merit_tools::ToolSpec::text(name, "A board.", "text", "anything", "x");
        Arc::new(Board { card }) as Arc<dyn Tool>
    };
    let play = |toolbox: &Toolbox| {
        let tools = toolbox.wrap_all(["write", "read"].map(board).to_vec());
        ["one", "two"].map(|word| {
            let shared = merit_tools::EpisodeShared::default();
            let [write, read] = [0, 1].map(|i| tools[i].open_beside(&shared, &task("t"), None).unwrap());
            ask(&write, word);
            ask(&read, "now")
        })
    };
    assert_eq!(play(&record), [ok("one"), ok("two")]);
    assert_eq!(record.tape().unwrap().counts().unwrap().differing, 0);
    drop(record);
    assert_eq!(play(&shelf.replay()), [ok("one"), ok("two")]);
}
