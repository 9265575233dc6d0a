//! Whatever a recipe may name is trained with: one step of a tiny policy goes through every component of the registries, so that
//! nothing is listed that no run can reach. The few that need more than this are listed with the test that goes through each.

use crate::staged::SMALL;
use crate::whole::Making;
use merit_evolve::{Edit, Entry, Kind, Library, Phase};
use merit_judge::{JudgeFolder, LibraryFile};
use merit_run::{Recipe, built_in};
use merit_store::EpisodeFilter;
use serde_json::json;
use std::path::Path;

/// Settings by their path.
type Changes = &'static [(&'static str, &'static str)];

/// What the small recipe needs besides, for a component that needs it, or instead of its example. `ROOT` is the repository, `HERE`
/// the folder with what [`lay_out`] puts there.
const ALSO: &[(&str, &str, Changes)] = &[
    (
        "world",
        "command",
        &[
            (
                "world",
                "{ type = 'command', command = ['python3', 'ROOT/docs/worlds/guess.py'], expert = true }",
            ),
            (
                "reward",
                "{ type = 'solved-by', term = 'environment-reward', of = { type = 'environment-reward' } }",
            ),
        ],
    ),
    (
        "reward term",
        "command",
        &[(
            "reward.of",
            "[{ type = 'exact-answer' }, { type = 'command', command = ['python3', 'ROOT/crates/merit-reward/examples/reward.py'] }]",
        )],
    ),
    (
        "credit rule",
        "gae",
        &[
            ("model.value_head", "true"),
            ("learn.objective", "{ type = 'policy-gradient', value = { coefficient = 0.5 } }"),
        ],
    ),
    ("objective", "policy-gradient", &[("model.value_head", "true"), ("credit", "{ type = 'gae' }")]),
    ("objective", "mixed-policy", &[("guests", "{ each = 1 }")]),
    ("loss aggregation", "token-budget", &[("learn.minibatches", "1")]),
    ("mask", "train-on-observations", &[("ablation", "true")]),
    (
        "reward term",
        "python",
        &[(
            "reward.of",
            "[{ type = 'exact-answer' }, { type = 'python', module = 'HERE/mine.py:turns', low = 0.0, high = 9.0 }]",
        )],
    ),
    (
        "tool",
        "python-tool",
        &[(
            "world.tools",
            "[{ type = 'calc' }, { type = 'lookup' }, { type = 'python-tool', module = 'HERE/mine.py:shout' }]",
        )],
    ),
    (
        "tool",
        "search",
        &[(
            "world.tools",
            "[{ type = 'calc' }, { type = 'lookup' }, { type = 'search', corpus = 'HERE/corpus.jsonl' }]",
        )],
    ),
    (
        "call format",
        "code-tags",
        &[("world.tools", "[{ type = 'calc' }]"), ("world.calls", "{ type = 'code-tags', tool = 'calc' }")],
    ),
    (
        "reward term",
        "judge",
        &[(
            "reward.of",
            "[{ type = 'exact-answer' }, { type = 'judge', judge = 'HERE/judge@0', force = true }]",
        )],
    ),
    (
        "annotator",
        "command",
        &[
            (
                "annotators",
                "[{ type = 'command', name = 'said', command = ['python3', 'HERE/annotator.py'] }]",
            ),
            ("reward.of", "[{ type = 'exact-answer' }, { type = 'annotation', key = 'said' }]"),
        ],
    ),
];

/// Something to search in, functions in Python that are a term and a tool, and a program that says something of every episode.
const FILES: [(&str, &str); 3] = [
    ("corpus.jsonl", "{\"text\": \"Apples are three.\"}\n{\"text\": \"Pears are four.\"}\n"),
    (
        "mine.py",
        r#"
def turns(episode):
    return float(len(episode["turns"]))
def shout(text: str) -> str:
    "Says it louder."
    return text.upper()
"#,
    ),
    (
        "annotator.py",
        r#"
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "value": 0.5}), flush=True)
"#,
    ),
];

/// Puts [`FILES`] into a folder, and a judge of one check.
fn lay_out(folder: &Path) {
    for (name, text) in FILES {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let path = folder.join("judge");
    JudgeFolder::create(&path, &LibraryFile::default()).unwrap();
    let (title, made_by) = ("the check".to_owned(), "a person".to_owned());
    let body = json!({ "type": "format" });
    let entry = Entry { kind: Kind::Check, title, when: Vec::new(), body, weight: 1.0, made_by };
    let library = Library::default().edited(&[Edit::Add { id: "the-check".to_owned(), entry }]).unwrap();
    JudgeFolder::open(&path).unwrap().by_hand(&library, Phase::Reverted, "by hand").unwrap();
}

/// Components that need more beside the run than a file: the test that goes through each, and what it needs.
const ELSEWHERE: &[(&str, &str, &str, &str)] = &[
    ("world", "python", "merit/tests/it/python_parts.rs", "a class in Python with what it imports"),
    ("tool", "mcp", "merit/tests/it/starts.rs", "a server"),
    ("annotator", "judge", "merit/tests/it/judges.rs", "a judge's file, and a server that answers for it"),
];

/// Where a component stands in a recipe.
fn placed(kind: &str, component: toml::Table) -> Result<(&'static [&'static str], toml::Value), String> {
    let own = component["type"].as_str().unwrap_or_default().to_owned();
    let alone = toml::Value::Table(component);
    // A term beside it has a name of its own: the examples of combinators have terms of the same kind.
    let other = |other: &str| match other {
        "exact-answer" => table(&[("type", other.into()), ("name", "beside".into())]),
        tool => table(&[("type", tool.into())]),
    };
    let beside = |others: &[&str]| {
        let others = others.iter().filter(|name| **name != own).map(|name| other(name));
        toml::Value::Array(std::iter::once(alone.clone()).chain(others).collect())
    };
    Ok(match kind {
        "world" => (&["world"], alone),
        // What it is made faulty of has the name of a tool already.
        "tool" if own == "faulty" => (&["world"], table(&[("type", "tasks".into()), ("tools", beside(&[]))])),
        "tool" => (&["world"], table(&[("type", "tasks".into()), ("tools", beside(&["calc", "lookup"]))])),
        "call format" => (&["world"], table(&[("type", "tasks".into()), ("calls", alone)])),
        "task source" => (&["tasks"], table(&[("source", alone)])),
        "reward combinator" if own == "solved-by" => (&["reward"], alone),
        "reward term" | "reward combinator" => {
            (&["reward"], table(&[("type", "sum".into()), ("of", beside(&["exact-answer"]))]))
        }
        "credit rule" => (&["credit"], alone),
        "objective" => (&["learn", "objective"], alone),
        "loss aggregation" => (&["learn", "loss_agg"], alone),
        "selector" => (&["learn", "selector"], alone),
        "mask" => (&["learn", "mask"], alone),
        "annotator" => (&["annotators"], toml::Value::Array(vec![alone])),
        _ => return Err("nobody says where a recipe names this kind; add it here".to_owned()),
    })
}

fn table(keys: &[(&str, toml::Value)]) -> toml::Value {
    toml::Value::Table(keys.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

/// The small recipe with a component in its place, cut down to one step.
fn recipe(kind: &str, name: &str, text: &str, here: &Path) -> Result<Recipe, String> {
    let component: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
    let (path, value) = placed(kind, component)?;
    let mut whole: toml::Table = SMALL.parse().unwrap();
    let (last, folders) = path.split_last().unwrap();
    let folder = folders.iter().fold(&mut whole, |table, key| table[*key].as_table_mut().unwrap());
    folder.insert((*last).to_owned(), value);
    let few = [("model", "context", 2048), ("warm_start", "demonstrations", 8), ("warm_start", "steps", 2)];
    let small = [("budget", "steps", 1), ("budget", "groups", 2), ("evaluation", "tasks", 2)];
    for (part, key, value) in few.into_iter().chain(small) {
        whole[part].as_table_mut().unwrap().insert(key.to_owned(), value.into());
    }
    if kind == "world" {
        // Not every world has an answer, nor says every one that a task is solved.
        let of = "value = [{ type = 'exact-answer' }, { type = 'info', key = 'solved', name = 'solved' }]";
        whole["reward"]["of"] = of.parse::<toml::Table>().unwrap()["value"].clone();
    }
    let also = ALSO.iter().find(|also| (also.0, also.1) == (kind, name)).map_or(&[][..], |also| also.2);
    for (path, value) in also {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let value =
            format!("value = {}", value.replace("ROOT", root).replace("HERE", &here.display().to_string()))
                .parse::<toml::Table>()
                .unwrap()["value"]
                .clone();
        let (folder, key) = match path.split_once('.') {
            Some((folder, key)) => (whole[folder].as_table_mut().unwrap(), key),
            None => (&mut whole, *path),
        };
        folder.insert(key.to_owned(), value);
    }
    let text = toml::to_string(&whole).unwrap();
    Recipe::parse(&format!("{name}.toml"), &text).map_err(|error| error.to_string())
}

/// One step of it; what went wrong.
fn trained(recipe: &Recipe, starts: &Path) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let made = Making::at(folder.path().join("run")).sharing(starts).try_train(recipe)?;
    let played = made.folder.episodes(&EpisodeFilter::phase("train")).unwrap();
    let scored = played.iter().filter(|stored| stored.scored.reward().is_some()).count();
    if scored == 0 { Err(format!("none of {} episodes was scored", played.len())) } else { Ok(()) }
}

#[test]
fn every_component_that_a_recipe_may_name_is_trained_with() {
    let starts = tempfile::tempdir().unwrap();
    lay_out(starts.path());
    let mut wrong = Vec::new();
    for listed in built_in().all() {
        let (kind, name) = (listed.kind, listed.about.name);
        // What every warm start learns by; it does not learn by reward.
        if (kind, name) == ("objective", "sft") {
            continue;
        }
        if let Some((_, _, file, _)) = ELSEWHERE.iter().find(|other| (other.0, other.1) == (kind, name)) {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
            let text = std::fs::read_to_string(path).unwrap();
            let named = [format!("type='{name}'"), format!("type = \"{name}\""), format!("\"{name}\"")];
            assert!(named.iter().any(|named| text.contains(named)), "{file} trains with no {kind} `{name}`");
            continue;
        }
        let ended = recipe(kind, name, &listed.document(), starts.path())
            .and_then(|recipe| trained(&recipe, starts.path()));
        if let Err(why) = ended {
            wrong.push(format!("{kind} `{name}`: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{} cannot be trained with:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_kind_that_nobody_trains_with_is_an_error() {
    let refused = recipe("mirror", "bright", "type = \"bright\"", Path::new(".")).err().unwrap();
    assert!(refused.contains("nobody says where"), "{refused}");
}
