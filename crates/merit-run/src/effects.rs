//! What of a world reaches outside: programs and servers that may do something out there.
//!
//! An episode that was lost with whoever played it can be played again where playing it changes nothing but its record. Where a part of the
//! world reaches outside nobody knows what has happened there already, so that whoever lost it asks here first.

use crate::elsewhere::Setup;
use crate::recipe::Recipe;
use merit_core::{Boundary, End, Episode, Fault};
use merit_rollout::EpisodePlan;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Where a part of a recipe stands, by which its type means something: the tool `python` is the sandbox, which reaches nothing, and the
/// world `python` is somebody's program.
#[derive(Debug, Clone, Copy)]
enum Place {
    World,
    /// A tool, or a program that plays simulated ones.
    Tool,
    Reward,
    Annotator,
    /// Anything else of a run: models at endpoints, and the tools of judges.
    Run,
}

impl Place {
    /// The types that reach outside there.
    fn outside(self) -> &'static [&'static str] {
        match self {
            Self::World => &["command", "python"],
            Self::Tool => &["command", "mcp", "python-tool"],
            // Only a judge's own folder or file says what his checks are, or who answers for him.
            Self::Reward => &["command", "judge", "python"],
            Self::Annotator => &["command", "judge"],
            Self::Run => &["command", "mcp", "openai", "python-tool"],
        }
    }

    /// Where that stands which a part of this place holds under `key`.
    fn below(self, key: &str) -> Self {
        match (key, self) {
            ("world", _) => Self::World,
            ("reward", _) => Self::Reward,
            ("annotators", _) => Self::Annotator,
            (_, Self::World) => Self::Tool,
            (_, other) => other,
        }
    }
}

impl Recipe {
    /// The parts of its world that reach outside, by their types. Empty: to play an episode again changes nothing.
    pub fn reaches_outside(&self) -> Vec<String> {
        outside(&self.world)
    }

    /// The parts of a whole run that reach outside, by their types: worlds and tools, rewards, annotators, endpoints. A judge of a
    /// file or folder of its own is among them, whatever its checks are. Empty: to run it again changes nothing.
    pub fn run_reaches_outside(&self) -> Vec<String> {
        let mut found = BTreeSet::new();
        // What cannot be written as a table was not read from one.
        if let Ok(table) = serde_json::to_value(self) {
            look(&table, Place::Run, &mut found);
        }
        found.into_iter().collect()
    }
}

impl Setup {
    /// The parts of its world that reach outside, by their types. Empty: to play an episode again changes nothing.
    pub fn reaches_outside(&self) -> Vec<String> {
        outside(&self.world)
    }
}

/// What is recorded of a plan whose player is gone, where it may not be played again: an episode that broke. The policy had no part in it.
pub fn lost(plan: &EpisodePlan, why: &str) -> Episode {
    let fault = Fault::new(Boundary::Environment, why).with_cause("lost");
    Episode::new(plan.id.clone(), Arc::clone(&plan.task), End::Failed { fault })
        .with_policy_version(plan.policy_version)
}

fn outside(world: &impl Serialize) -> Vec<String> {
    let mut found = BTreeSet::new();
    // What cannot be written as a table was not read from one.
    if let Ok(table) = serde_json::to_value(world) {
        look(&table, Place::World, &mut found);
    }
    found.into_iter().collect()
}

/// The types of the parts that reach outside.
fn look(value: &Value, place: Place, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(table) => {
            if let Some(name) = table.get("type").and_then(Value::as_str)
                && place.outside().contains(&name)
            {
                found.insert(name.to_owned());
            }
            // The settings of somebody's class are his own words.
            for (key, value) in table.iter().filter(|(key, _)| *key != "settings") {
                look(value, place.below(key), found);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| look(value, place, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merit_core::Chosen;
    use serde_json::json;

    fn check(world: Value, want: &[&str]) {
        let read = || serde_json::from_value::<Chosen<dyn merit_api::WorldSettings>>(world.clone());
        let read = crate::built_in().reading(read).expect("it is a world");
        assert_eq!(outside(&read), want, "{world}");
    }

    #[test]
    fn programs_and_servers_reach_outside_and_what_merit_brings_does_not() {
        check(json!({"type": "ledger"}), &[]);
        check(json!({"type": "python", "module": "a:B", "settings": {"type": "mcp"}}), &["python"]);
        let command = json!({"type": "command", "command": ["a"]});
        check(command.clone(), &["command"]);
        let tasks =
            |tools: Value| json!({"type": "tasks", "file": "a.jsonl", "calls": "hermes", "tools": tools});
        check(tasks(json!([{"type": "python"}, {"type": "calc"}, {"type": "http", "fixtures": []}])), &[]);
        let faulty = |inner: Value| json!({"type": "faulty", "inner": inner});
        check(tasks(json!([faulty(json!({"type": "calc"}))])), &[]);
        let own = faulty(json!({"type": "python-tool", "module": "a:b"}));
        check(tasks(json!([own, {"type": "mcp", "server": {"command": ["a"]}}])), &["mcp", "python-tool"]);
        let ledger = json!({"name": "ledger", "world": {"type": "ledger"}});
        check(json!({"type": "mix", "of": [ledger, {"name": "own", "world": command}]}), &["command"]);
        let simulated = |role: Value| {
            let tool =
                json!({"name": "weather", "summary": "The weather.", "parameters": {"type": "object"}});
            tasks(json!([{"type": "simulated", "role": role, "tools": [tool]}]))
        };
        check(simulated(json!({"type": "schema"})), &[]);
        check(simulated(json!({"type": "command", "command": ["a"]})), &["command"]);
    }

    #[test]
    fn a_run_reaches_outside_by_its_rewards_annotators_and_endpoints_too() {
        let check = |more: &str, want: &[&str]| {
            let text = format!(
                "name = 'a'\nabout = 'b'\n[world]\ntype = 'ledger'\n[credit]\ntype = 'grpo'\n[budget]\nsteps = 1\ngroups = 2\n\
                 group_size = 2\n{more}"
            );
            let recipe = Recipe::parse("a.toml", &text).expect(&text);
            assert_eq!(recipe.run_reaches_outside(), want, "{more}");
            assert!(recipe.reaches_outside().is_empty(), "an episode does not");
        };
        let own = "[reward]\ntype = 'exact-answer'\n";
        check(own, &[]);
        let with = |term: &str| {
            format!("[reward]\ntype = 'sum'\nof = [{{ type = 'exact-answer' }}, {{ {term} }}]\n")
        };
        check(&with("type = 'command', command = ['a']"), &["command"]);
        check(&with("type = 'python', module = 'a:b'"), &["python"]);
        // Its checks may be programs.
        check(&with("type = 'judge', judge = 'mine@1'"), &["judge"]);
        let graded = with("type = 'annotation', key = 'good'");
        check(
            &format!("{graded}[[annotators]]\ntype = 'command'\nname = 'good'\ncommand = ['a']"),
            &["command"],
        );
        let server = "endpoint = { base_url = 'http://127.0.0.1:9/v1', model = 'm' }";
        check(&format!("{own}[roles.teacher]\ntype = 'openai'\n{server}"), &["openai"]);
    }
}
