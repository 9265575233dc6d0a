//! Whatever a recipe may name is trained with: one step of a tiny policy goes through every component of the registries, so that
//! nothing is listed that no run can reach.

use crate::staged::SMALL;
use crate::whole::Making;
use merit_run::{Recipe, built_in};
use merit_store::EpisodeFilter;
use std::path::Path;

/// Settings by their path.
type Changes = &'static [(&'static str, &'static str)];

/// What the small recipe needs besides, for a component that needs it, or instead of its example. `ROOT` is the repository, `HERE`
/// the folder with [`MINE`] and [`CORPUS`].
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
];

/// Something to search in.
const CORPUS: &str = "{\"text\": \"Apples are three.\"}\n{\"text\": \"Pears are four.\"}\n";

/// Functions in Python that are a term and a tool.
const MINE: &str = r#"
def turns(episode):
    return float(len(episode["turns"]))
def shout(text: str) -> str:
    "Says it louder."
    return text.upper()
"#;

/// Components that need a program, a server or a judge beside the run: the file of the test that goes
/// through each.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("world", "python", "merit/tests/it/python_parts.rs"),
    ("tool", "mcp", "merit/tests/it/starts.rs"),
    ("reward term", "judge", "merit-judge/tests/it/paying.rs"),
];

/// Where a component stands in a recipe. Nothing: no recipe names it.
fn placed(kind: &str, component: toml::Table) -> Option<(&'static [&'static str], toml::Value)> {
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
    Some(match kind {
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
        _ => return None,
    })
}

fn table(keys: &[(&str, toml::Value)]) -> toml::Value {
    toml::Value::Table(keys.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

/// The small recipe with a component in its place, cut down to one step.
fn recipe(kind: &str, name: &str, text: &str, here: &Path) -> Result<Option<Recipe>, String> {
    let component: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
    let Some((path, value)) = placed(kind, component) else { return Ok(None) };
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
    Recipe::parse(&format!("{name}.toml"), &text).map(Some).map_err(|error| error.to_string())
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
    std::fs::write(starts.path().join("mine.py"), MINE).unwrap();
    std::fs::write(starts.path().join("corpus.jsonl"), CORPUS).unwrap();
    let mut wrong = Vec::new();
    for listed in built_in().all() {
        let (kind, name) = (listed.kind, listed.about.name);
        // What every warm start learns by; it does not learn by reward.
        if (kind, name) == ("objective", "sft") {
            continue;
        }
        if let Some((.., file)) = ELSEWHERE.iter().find(|other| (other.0, other.1) == (kind, name)) {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
            let text = std::fs::read_to_string(path).unwrap();
            let named = [format!("type='{name}'"), format!("type = \"{name}\""), format!("\"{name}\"")];
            assert!(named.iter().any(|named| text.contains(named)), "{file} trains with no {kind} `{name}`");
            continue;
        }
        let ended = recipe(kind, name, &listed.document(), starts.path())
            .and_then(|recipe| recipe.map_or(Ok(()), |recipe| trained(&recipe, starts.path())));
        if let Err(why) = ended {
            wrong.push(format!("{kind} `{name}`: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{} cannot be trained with:\n{}", wrong.len(), wrong.join("\n"));
}
