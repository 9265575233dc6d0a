//! Each format: what its entries become, and what is said of the rest.

use merit_core::conformance::check_episode;
use merit_core::*;
use merit_import::{
    AUTO, FORMATS, ImportError, ImportOptions, Imported, ItemError, Layout, Row, read, read_rows,
};
use serde_json::json;

const OPENAI: &str = include_str!("../fixtures/openai.jsonl");
const TAU_BENCH: &str = include_str!("../fixtures/tau-bench.json");
const PLAIN: &str = include_str!("../fixtures/plain.jsonl");

fn import(text: &str) -> Imported {
    let imported = read(text.as_bytes(), AUTO, &ImportOptions::default()).unwrap();
    for scored in &imported.episodes {
        assert_eq!(check_episode(&scored.episode), Vec::<String>::new());
    }
    imported
}

fn episode(imported: &Imported, at: usize) -> &Episode {
    &imported.episodes[at].episode
}

fn ids(imported: &Imported) -> Vec<String> {
    imported.episodes.iter().map(|scored| scored.episode.id.to_string()).collect()
}

fn roles(episode: &Episode) -> Vec<Role> {
    episode.transcript.segments().iter().map(|segment| segment.role).collect()
}

fn calls(episode: &Episode) -> Vec<(&str, &str, &str, CallEnd)> {
    let all = episode.turns.iter().flat_map(|turn| &turn.calls);
    all.map(|c| (c.call.tool.as_str(), c.call.input.as_str(), c.output.as_str(), c.end)).collect()
}

#[test]
fn every_format_reads_and_detects_its_own_example() {
    for format in FORMATS {
        for name in [AUTO, format.about.name] {
            let imported = read(format.example.as_bytes(), name, &ImportOptions::default()).unwrap();
            assert_eq!((imported.found.format, imported.episodes.len()), (format.about.name, 1));
            assert_eq!(imported.found.detected, name == AUTO);
            assert_eq!(check_episode(&imported.episodes[0].episode), Vec::<String>::new());
            assert_eq!(imported.remarks, vec![]);
        }
    }
}

#[test]
fn openai_turns_calls_and_ends_are_typed() {
    let imported = import(OPENAI);
    assert_eq!((imported.found.format, imported.found.layout), ("openai", Layout::Lines));
    assert_eq!(
        ids(&imported),
        ["import/0/0/1", "import/0/0/0", "import/0/1/0", "import/0/2/0", "import/0/3/0"]
    );
    let first = episode(&imported, 0);
    use Role::*;
    assert_eq!(roles(first), [System, User, Policy, Tool, Tool, Policy]);
    assert_eq!(first.transcript.segments()[1].text, "Is Emma on the shelf?");
    // Joined by id, though the answers came in another order; object arguments are kept as JSON.
    assert_eq!(
        calls(first),
        [
            ("find_book", r#"{"title": "Emma"}"#, "shelf 4", CallEnd::Unknown),
            ("open_hours", r#"{"day":"today"}"#, "9 to 17", CallEnd::Unknown)
        ]
    );
    assert_eq!(
        (first.answer(), &first.end),
        (Some("Yes, on shelf 4; we are open until 17."), &End::Answered)
    );
    assert_eq!(first.reported, Some(Reported { reward: 0.5, by: "`reward` of the file".into() }));
    let cut = episode(&imported, 1);
    assert_eq!((cut.answer(), &cut.end), (None, &End::Truncated { limit: Limit::Tokens }));
    assert_eq!(
        (cut.turns[0].stop, cut.reported.as_ref().map(|r| r.reward)),
        (TurnStop::MaxTokens, Some(0.0))
    );
    let legacy = episode(&imported, 2);
    assert_eq!(calls(legacy), [("weather", "{}", "Error: no such station", CallEnd::Unknown)]);
    assert_eq!((&legacy.end, &legacy.reported), (&End::Unknown, &None), "it stops on a tool's answer");
    assert_eq!(episode(&imported, 3).answer(), Some("hi"), "a bare list of messages is a conversation");
    let broken = episode(&imported, 4);
    assert!(matches!(&broken.end, End::Failed { fault } if fault.boundary == Boundary::Unknown));
    assert_eq!(
        calls(broken),
        [("buy", "{\"what\"", "", CallEnd::Unknown)],
        "bad arguments are kept as written"
    );
}

#[test]
fn openai_says_what_it_could_not_join_or_keep() {
    let imported = import(OPENAI);
    let odd: Vec<(usize, &str)> = imported.remarks.iter().map(|r| (r.line, r.what.as_str())).collect();
    assert_eq!(
        odd,
        [
            (5, "a tool's answer belongs to no call: there is no open call `y`"),
            (5, "turn 0: the call of `buy` has no answer")
        ]
    );
    let left_out: Vec<(&str, usize)> = imported.left_out.iter().map(|(k, n)| (k.as_str(), *n)).collect();
    assert_eq!(
        left_out,
        [("messages[].reasoning_content", 1), ("seconds (not the same in all episodes of a task)", 2)]
    );
    let task = &episode(&imported, 0).task;
    assert_eq!((task.id.as_str(), task.answer.as_deref()), ("imported/openai/emma", Some("shelf 4")));
    assert_eq!(task.payload["fields"], serde_json::json!({ "level": "easy" }));
    assert_eq!(task.payload["tools"][0]["function"]["name"], "find_book");
    assert_eq!(episode(&imported, 1).task, *task);
}

#[test]
fn a_call_counts_as_ok_only_where_errors_can_be_told() {
    let options = ImportOptions { error_prefixes: vec!["Error".into()], ..ImportOptions::default() };
    let imported = read(OPENAI.as_bytes(), "openai", &options).unwrap();
    let ends = |at: usize| calls(episode(&imported, at)).iter().map(|c| c.3).collect::<Vec<_>>();
    assert_eq!(ends(0), [CallEnd::Ok, CallEnd::Ok]);
    assert_eq!(ends(2), [CallEnd::Refused]);
    assert_eq!(ends(4), [CallEnd::Unknown], "nothing answered it");
    let marked = r#"{"messages": [{"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "is_error": true, "content": "no"}]}"#;
    assert_eq!(calls(episode(&import(marked), 0))[0].3, CallEnd::Refused);
}

#[test]
fn tau_bench_keeps_the_reference_and_types_the_ends() {
    let imported = import(TAU_BENCH);
    assert_eq!((imported.found.format, imported.found.layout), ("tau-bench", Layout::Array));
    assert_eq!(ids(&imported), ["import/0/7/0", "import/0/7/1", "import/0/9/0", "import/0/9/1"]);
    let [done, cut, broken, handed] = [0, 1, 2, 3].map(|at| episode(&imported, at));
    use Role::*;
    assert_eq!(roles(done), [System, User, Policy, Tool, Policy, User]);
    assert_eq!(done.end, End::EnvironmentDone);
    assert_eq!(done.reported, Some(Reported { reward: 1.0, by: "tau-bench".into() }));
    assert_eq!(calls(done), [("set_seat", r#"{"seat": "4A"}"#, "", CallEnd::Ok)]);
    assert!(matches!(&done.turns[1].action, Action::Say { text } if text == "You have seat 4A."));
    assert_eq!((done.task.world.as_str(), done.task.size), ("imported/tau-bench-airline", 1));
    assert_eq!(done.task.payload["actions"][0]["kwargs"]["seat"], "4A");
    assert_eq!(done.task.payload["outputs"][0], "4A");
    assert_eq!(cut.end, End::Truncated { limit: Limit::Turns });
    assert_eq!(calls(cut).iter().map(|c| c.3).collect::<Vec<_>>(), [CallEnd::Refused, CallEnd::Refused]);
    assert_eq!(cut.task, done.task);
    assert!(matches!(&broken.end, End::Failed { fault } if fault.message == "the endpoint did not answer"));
    assert_eq!(broken.task, handed.task, "the task of a run that broke is known from its siblings");
    assert_eq!(handed.end, End::EnvironmentDone);
    assert_eq!(imported.left_out["info.user_cost"], 2);
    assert_eq!(imported.left_out["info.traceback"], 1);
}

#[test]
fn what_nobody_measured_is_not_zero() {
    let imported = import(TAU_BENCH);
    let done = episode(&imported, 0);
    assert_eq!(done.cost.known_policy_tokens(), None);
    assert_eq!(done.cost.known_tool_seconds(), None);
    assert_eq!((done.cost.tool_calls, done.turns[0].calls[0].seconds), (1, None));
    assert!(done.turns.iter().all(|turn| turn.stop == TurnStop::Unknown));
    assert!(done.transcript.segments().iter().all(|s| s.known == Known::Text && s.policy_version.is_none()));
    let refused = Sample::of(&imported.episodes[0], 0).unwrap_err();
    assert!(matches!(refused, SampleError::Incomplete { .. }), "{refused}");
}

#[test]
fn plain_lines_group_by_name_or_by_prompt() {
    let imported = import(PLAIN);
    assert_eq!((imported.found.format, imported.found.entries), ("jsonl", 4));
    assert_eq!(ids(&imported), ["import/0/0/0", "import/0/0/1", "import/0/1/0", "import/0/2/0"]);
    let rewards: Vec<Option<f64>> =
        imported.episodes.iter().map(|s| s.episode.reported.as_ref().map(|r| r.reward)).collect();
    assert_eq!(rewards, [Some(1.0), Some(0.0), None, None]);
    assert_eq!(episode(&imported, 0).task.answer.as_deref(), Some("2"));
    assert_eq!(roles(episode(&imported, 2)), [Role::System, Role::User, Role::Policy]);
    assert_eq!(episode(&imported, 3).end, End::Truncated { limit: Limit::Tokens });
    assert_eq!(imported.left_out.keys().collect::<Vec<_>>(), ["id (not the same in all episodes of a task)"]);
}

#[test]
fn the_same_prompt_is_the_same_task_wherever_it_stands() {
    let line = |prompt: &str, response: &str| {
        serde_json::json!({ "prompt": prompt, "response": response }).to_string()
    };
    let a = import(&[line("p", "1"), line("q", "2"), line("p", "3")].join("\n"));
    let b = import(&[line("q", "2"), line("p", "1")].join("\n"));
    assert_eq!(ids(&a), ["import/0/0/0", "import/0/1/0", "import/0/0/1"]);
    assert_eq!(episode(&a, 0).task.id, episode(&b, 1).task.id);
    assert_ne!(episode(&a, 0).task.id, episode(&a, 1).task.id);
}

#[test]
fn merits_own_episodes_come_back_exactly() {
    let native = include_str!("../../../merit-core/tests/golden/native-episode.json");
    let wanted: Episode = serde_json::from_str(native).unwrap();
    let wrapped = format!("{{\"outcome\": \"solved\", \"episode\": {native}, \"score\": null}}");
    for text in [native.to_owned(), wrapped] {
        let imported = import(&text);
        assert_eq!(imported.found.format, "jsonl");
        assert_eq!(*imported.episodes[0].episode, wanted);
        assert_eq!(imported.episodes[0].episode.content_hash(), wanted.content_hash());
    }
    // What was imported can be written as lines and imported again.
    let foreign = import(OPENAI);
    let lines: Vec<String> =
        foreign.episodes.iter().map(|s| serde_json::to_string(&*s.episode).unwrap()).collect();
    let again = import(&lines.join("\n"));
    let both =
        |imported: &Imported| imported.episodes.iter().map(|s| (*s.episode).clone()).collect::<Vec<_>>();
    assert_eq!(both(&again), both(&foreign));
}

#[test]
fn an_unknown_format_names_the_nearest() {
    let refused = read(OPENAI.as_bytes(), "opanai", &ImportOptions::default()).unwrap_err();
    assert!(refused.to_string().contains("did you mean `openai`?"), "{refused}");
    let refused = read(&b"{\"a\": 1}"[..], AUTO, &ImportOptions::default()).unwrap_err();
    assert!(matches!(&refused, ImportError::NotDetected { line: 1, .. }), "{refused}");
    assert!(refused.to_string().contains("the fields `a`"), "{refused}");
}

#[test]
fn the_world_can_be_named() {
    let options = ImportOptions { world: Some("desk".into()), ..ImportOptions::default() };
    let imported = read(TAU_BENCH.as_bytes(), AUTO, &options).unwrap();
    assert_eq!(imported.episodes[0].episode.task.id, "imported/desk/7");
    let options = ImportOptions { world: Some("a desk/".into()), ..ImportOptions::default() };
    assert!(matches!(read(TAU_BENCH.as_bytes(), AUTO, &options), Err(ImportError::Setting { .. })));
}

#[test]
fn pictures_are_refused_rather_than_dropped() {
    let text =
        r#"{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}"#;
    let Err(ImportError::Skipped { skipped, .. }) = read(text.as_bytes(), AUTO, &ImportOptions::default())
    else {
        panic!("it was imported");
    };
    let want = ItemError::Part { field: "messages[0].content[0]".into(), kind: "image_url".into() };
    assert_eq!(skipped[0].why, want);
}

#[test]
fn a_plain_row_is_read_as_the_entry_with_its_fields() {
    let plain = |prompt: &str, response: &str, answer: Option<&str>| Row::Plain {
        prompt: prompt.into(),
        response: response.into(),
        answer: answer.map(Into::into),
    };
    let rows = [plain("2 + 2?", "4", Some("4")), plain("2 + 2?", "5", Some("4")), plain("Well?", " ", None)];
    let entries = [
        json!({"prompt": "2 + 2?", "response": "4", "answer": "4"}),
        json!({"prompt": "2 + 2?", "response": "5", "answer": "4"}),
        json!({"prompt": "Well?", "response": " "}),
    ];
    let options = ImportOptions::default();
    let read = |rows: Vec<Row>| {
        let read = read_rows(rows, AUTO, &options)?;
        Ok::<_, ImportError>(read.episodes.iter().map(|scored| json!(scored.episode)).collect::<Vec<_>>())
    };
    assert_eq!(read(rows.to_vec()).unwrap(), read(entries.map(Row::from).to_vec()).unwrap());
    // Behind a row of another format it is what that format makes of the entry.
    let messages = json!([{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]);
    let behind = |row: Row| read(vec![messages.clone().into(), row]).unwrap_err().to_string();
    assert_eq!(
        behind(rows[0].clone()),
        behind(json!({"prompt": "2 + 2?", "response": "4", "answer": "4"}).into())
    );
}
