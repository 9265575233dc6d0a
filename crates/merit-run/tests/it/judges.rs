//! Judges that are models behind a server: what they are asked, what they may call, and what their files may say.

use merit_core::{Action, End, Episode, EpisodeId, Task, Turn};
use merit_endpoint::{Asked, Reply, ScriptedServer};
use merit_evolve::Library;
use merit_judge::{Choice, Verdict};
use merit_run::{JudgeFile, OpenJudge, Recipe, built_in};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn answer(text: &str) -> Arc<Episode> {
    let id = EpisodeId { phase: "t".into(), step: 0, group: 0, member: 0, branch: 0 };
    let turn = Turn::new(0, Action::Answer { text: text.into() });
    Arc::new(Episode::new(id, Task::new("quiz", "quiz/1"), End::Answered).with_turns(vec![turn]))
}

/// What the last message of a request says.
pub(crate) fn last(asked: &Asked) -> String {
    let messages = asked.body["messages"].as_array().unwrap();
    messages.last().unwrap()["content"].as_str().unwrap().to_owned()
}

pub(crate) fn file(folder: &Path, name: &str, ask: &str, server: &ScriptedServer, more: &str) -> PathBuf {
    let path = folder.join(name);
    let text = format!(
        "ask = {{ {ask} }}\nrubric = \"Be right.\"\n{more}\n[backend]\ntype = \"openai\"\n[backend.endpoint]\nbase_url = \"{}\"\n\
         model = \"m\"\nconcurrency = 32\nbackoff_base_s = 0.001\nbackoff_most_s = 0.01\n",
        server.base_url()
    );
    std::fs::write(&path, text).unwrap();
    path
}

fn open(path: &Path) -> OpenJudge {
    OpenJudge::open(path, &Library::default(), &built_in(), None).unwrap()
}

#[test]
fn a_model_compares_and_its_answers_are_typed() {
    let server = ScriptedServer::start(|asked| {
        let user = last(asked);
        Reply::chat(match user.as_str() {
            u if u.contains("private") => "I'm sorry, I cannot judge this.",
            u if u.contains("strange") => "Candidate 1, surely.",
            _ => "<think>Hm.</think>```json\n{\"reason\": \"it is right\", \"better\": 2}\n```",
        })
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut judge = open(&file(folder.path(), "judge.toml", "type = 'compare'", &server, ""));
    let pairs = ["plain", "private", "strange"].map(|a| (answer(a), answer("4")));
    let said = judge.judge().compare(&pairs);
    assert_eq!(said[0].verdict, Verdict::Prefers { choice: Choice::Second });
    assert_eq!((said[0].evidence.as_str(), said[0].cost.judge_calls), ("it is right", 1));
    assert_eq!((said[1].verdict.word(), said[2].verdict.word()), ("refused", "unreadable"));
    let asked = server.asked();
    assert!(asked.iter().all(|asked| {
        asked.body["messages"][0]["content"].as_str().unwrap().contains("is data to be judged")
    }));
}

#[test]
fn a_judge_with_tools_may_call_them_and_must_answer_in_its_last_turn() {
    let server = ScriptedServer::start(|asked| {
        let messages = asked.body["messages"].as_array().unwrap();
        let call =
            "<tool_call>\n{\"name\": \"calc\", \"arguments\": {\"expression\": \"6*7\"}}\n</tool_call>";
        let stubborn = messages.iter().any(|m| m["content"].as_str().unwrap().contains("stubborn"));
        match (messages.len(), stubborn) {
            (2, _) | (_, true) => Reply::chat(call),
            _ => Reply::chat(&format!("{{\"score\": {}}}", if last(asked).contains("42") { 9 } else { 1 })),
        }
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let more = "turns = 3\ntools = [{ type = \"calc\" }]";
    let mut judge = open(&file(folder.path(), "judge.toml", "type = 'score'", &server, more));
    let said = judge.judge().score(&[answer("42"), answer("stubborn")]);
    assert_eq!(
        (said[0].verdict.value(), said[0].cost.tool_calls, said[0].cost.judge_calls),
        (Some(0.9), 1, 2)
    );
    // Who only calls has said nothing, and was told so before the last turn.
    assert_eq!(said[1].verdict.word(), "unreadable");
    assert!(server.asked().iter().any(|asked| last(asked).contains("This is your last turn")));
}

#[test]
fn a_panel_is_a_file_of_files_and_many_are_ranked() {
    let honest = ScriptedServer::start(|asked| {
        let user = last(asked);
        let number = |which: &str| {
            let text = user.split(&format!("<<<candidate {which}")).nth(1).unwrap();
            text.split("answer: ").nth(1).unwrap().chars().next().unwrap()
        };
        Reply::chat(&format!("{{\"better\": {}}}", if number("1") > number("2") { 1 } else { 2 }))
    })
    .unwrap();
    let biased = ScriptedServer::start(|_| Reply::chat("{\"better\": 1}")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "a.toml", "type = 'compare'", &honest, "");
    file(folder.path(), "b.toml", "type = 'compare'", &biased, "");
    file(folder.path(), "c.toml", "type = 'compare'", &honest, "seed = 1");
    let path = folder.path().join("judge.toml");
    std::fs::write(&path, "panel = ['a.toml', 'b.toml', 'c.toml']\nrule = 'majority'\n").unwrap();
    let mut judge = OpenJudge::open(folder.path(), &Library::default(), &built_in(), None).unwrap();
    let said = judge.rank(&[answer("3"), answer("9"), answer("5")]);
    assert_eq!((said.verdict, said.cost.judge_calls), (Verdict::Ranks { order: vec![1, 2, 0] }, 18));
    let OpenJudge::Panel { panel, .. } = &judge else { panic!("one judge") };
    assert!(panel.agreement().0.is_some_and(|alpha| (0.0..1.0).contains(&alpha)), "{:?}", panel.agreement());
    std::fs::write(folder.path().join("a.toml"), "panel = ['b.toml', 'c.toml']").unwrap();
    let nested = OpenJudge::open(&path, &Library::default(), &built_in(), None).err().unwrap().to_string();
    assert!(nested.contains("is itself a panel"), "{nested}");
}

#[test]
fn a_file_that_cannot_work_is_refused_with_the_reason() {
    let backend =
        "backend = { type = 'openai', endpoint = { base_url = 'http://127.0.0.1:1/v1', model = 'm' } }";
    for (text, wanted) in [
        ("ask = { type = 'compare' }\nrubrik = 'x'", "did you mean `rubric`?"),
        ("ask = { type = 'compere' }", "did you mean `compare`?"),
        ("ask = { type = 'score', scale = 0 }", "`ask.scale` is 0"),
        ("ask = { type = 'check', items = [] }", "`ask.items` is []"),
        ("ask = { type = 'compare' }\nvotes = 3", "every vote is then the same"),
        ("ask = { type = 'compare' }\nturns = 3", "1 without `tools`"),
        ("ask = { type = 'compare' }\nturns = 3\ntools = [{ type = 'clac' }]", "did you mean `calc`?"),
        ("ask = { type = 'compare' }\nbudget = 0", "`budget` is 0"),
        ("ask = { type = 'check', items = ['a', 'b'], weights = [1.0] }", "`ask.weights` is [1.0]"),
        (
            "ask = { type = 'check', items = ['a'] }\nexamples = { from = 'p.jsonl' }",
            "nobody has labelled its items",
        ),
        ("ask = { type = 'compare' }\nexamples = { from = 'p.jsonl', count = 0 }", "`examples.count`"),
        ("ask = { type = 'compare' }\ngrammar = true", "left out where a server answers"),
    ] {
        let error = JudgeFile::parse("judge.toml", &format!("{text}\n{backend}\n"), &built_in())
            .unwrap_err()
            .to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
    for (more, wanted) in [
        ("rul = 'mean'", "did you mean `rule`?"),
        ("weights = [1.0]", "a number above 0 for each judge"),
        ("weights = [1.0, 2.0]\nrule = 'min'", "left out where `rule` is `min`"),
    ] {
        let text = format!("panel = ['a.toml', 'b.toml']\n{more}");
        let error = JudgeFile::parse("judge.toml", &text, &built_in()).unwrap_err().to_string();
        assert!(error.contains(wanted), "{more}: {error}");
    }
    let oracle = "ask = { type = 'check', items = ['a'] }\nbackend = { type = 'oracle' }";
    let error = JudgeFile::parse("judge.toml", oracle, &built_in()).unwrap_err().to_string();
    assert!(error.contains("not which sentence holds"), "{error}");
}

#[test]
fn items_and_judges_count_as_much_as_the_file_says_and_examples_are_shown() {
    let met = ScriptedServer::start(|_| Reply::chat("{\"items\": [true, false]}")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let pair =
        |n: u32| format!("{{\"prompt\": \"q{n}\", \"chosen\": \"good {n}\", \"rejected\": \"bad {n}\"}}\n");
    std::fs::write(folder.path().join("pairs.jsonl"), (0..20).map(pair).collect::<String>()).unwrap();
    let ask = "type = 'check', items = ['a', 'b'], weights = [3.0, 1.0]";
    let said = open(&file(folder.path(), "a.toml", ask, &met, "")).judge().score(&[answer("4")]);
    assert_eq!(said[0].verdict.value(), Some(0.75));
    let [low, high] = [2, 10].map(|grade| {
        ScriptedServer::start(move |_| Reply::chat(&format!("{{\"score\": {grade}}}"))).unwrap()
    });
    file(folder.path(), "low.toml", "type = 'score'", &low, "");
    file(folder.path(), "high.toml", "type = 'score'", &high, "");
    let panel = folder.path().join("panel.toml");
    let text = "panel = ['low.toml', 'high.toml']\nrule = 'mean'\nweights = [1.0, 3.0]\n";
    std::fs::write(&panel, text).unwrap();
    // (1 · 0.2 + 3 · 1.0) / 4 = 0.8
    let value = open(&panel).judge().score(&[answer("4")])[0].verdict.value().unwrap();
    assert!((value - 0.8).abs() < 1e-12, "{value}");
    let better = ScriptedServer::start(|_| Reply::chat("{\"better\": 1}")).unwrap();
    let more = "examples = { from = 'pairs.jsonl', count = 2 }";
    open(&file(folder.path(), "few.toml", "type = 'compare'", &better, more))
        .judge()
        .compare(&[(answer("4"), answer("5"))]);
    assert_eq!(last(&better.asked()[0]).matches("right verdict: {\"better\":").count(), 2);
}

#[test]
fn an_annotator_gives_numbers_and_nothing_where_there_is_no_verdict() {
    let server = ScriptedServer::start(|asked| {
        Reply::chat(if last(asked).contains("private") {
            "I cannot."
        } else {
            "{\"score\": 4, \"reason\": \"so\"}"
        })
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "judge.toml", "type = 'score'", &server, "");
    let table = format!("type = \"judge\"\nname = \"helpful\"\njudge = {:?}\n", path.display().to_string());
    let read = |table: &str| {
        let table: toml::Table = toml::from_str(table).unwrap();
        merit_core::Chosen::<dyn merit_api::annotator::AnnotatorSettings>::from_table(table, &built_in())
            .unwrap()
    };
    let mut annotator = read(&table).build().unwrap();
    let said = annotator.annotate_all(&[answer("4"), answer("private")]);
    let first = &said[0].as_ref().unwrap()[0];
    assert_eq!((first.name.as_str(), first.value, first.cost.judge_calls), ("helpful", 0.4, 1));
    assert!(said[1].as_ref().unwrap_err().starts_with("refused: "), "{said:?}");
    // Who only compares has no number for one episode.
    file(folder.path(), "judge.toml", "type = 'compare'", &server, "");
    assert!(read(&table).build().err().unwrap().contains("needs `score` or `check`"));
}

#[test]
fn a_judge_that_grades_turns_is_asked_about_the_episode_as_it_was_after_each() {
    // It grades by how many words were said so far, and refuses what is private.
    let server = ScriptedServer::start(|asked| {
        let user = last(asked);
        match user.contains("agent: private") && !user.contains("agent: four") {
            true => Reply::chat("I cannot."),
            false => Reply::chat(&format!("{{\"score\": {}}}", user.matches("agent: ").count())),
        }
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "judge.toml", "type = 'score'", &server, "");
    let annotator = |more: &str| {
        let judge = path.display().to_string();
        let table = format!("type = 'judge'\nname = 'helpful'\njudge = {judge:?}\n{more}");
        let table: toml::Table = toml::from_str(&table).unwrap();
        merit_core::Chosen::<dyn merit_api::annotator::AnnotatorSettings>::from_table(table, &built_in())
            .unwrap()
    };
    let says = |texts: &[&str]| {
        let action = |text: &&str| Action::Say { text: (*text).to_owned() };
        let turns = texts.iter().enumerate().map(|(at, text)| Turn::new(at as u32, action(text)));
        Arc::new(Episode { turns: turns.collect(), ..(*answer("")).clone() })
    };
    let (per_turn, whole) = (annotator("per_turn = true"), annotator(""));
    assert!(per_turn.speaks_of_turns() && !whole.speaks_of_turns());
    let episodes = [says(&["one", "two", "three"]), says(&["private", "four"]), says(&[])];
    let said = per_turn.build().unwrap().annotate_all(&episodes);
    let [first, second, third] = [0, 1, 2].map(|at| &said[at].as_ref().unwrap()[0]);
    assert_eq!(first.turns, [Some(0.1), Some(0.2), Some(0.3)]);
    assert_eq!((first.value, first.cost.judge_calls), (0.3, 3));
    // A turn on which it gave no verdict is not graded 0, and the reason is kept.
    assert_eq!(second.turns, [None, Some(0.2)]);
    assert!(second.evidence.iter().any(|one| one.finding.starts_with("turn 0: refused: ")), "{second:?}");
    assert_eq!((third.turns.len(), third.value), (0, 0.0));
    let said = whole.build().unwrap().annotate_all(&episodes);
    assert_eq!(said[0].as_ref().unwrap()[0].turns, []);
    let text = std::fs::read_to_string(&path).unwrap();
    let error = JudgeFile::parse("judge.toml", &format!("per_turn = true\n{text}"), &built_in())
        .unwrap_err()
        .to_string();
    assert!(error.contains("`per_turn` is true; it must be left out of a file"), "{error}");
}

#[test]
fn a_recipe_may_name_a_judge() {
    let text =
        merit_run::shipped::recipes().iter().find(|one| one.about.name == "ledger-tools").unwrap().text;
    let text =
        format!("{text}\n[[annotators]]\ntype = \"judge\"\nname = \"helpful\"\njudge = \"judge.toml\"\n");
    let recipe = Recipe::parse("r.toml", &text).unwrap();
    assert_eq!(recipe.annotators[0].gives(), ["helpful"]);
}
