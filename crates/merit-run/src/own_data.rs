//! A person's own data in a recipe: `[datasets.NAME]` names a file, and stages that imitate or prefer read it by that name.
//!
//! In: the file. Out: token sequences of this policy's own layout, learned where the assistant speaks. Everything is read and laid
//! out before the first stage, so that a bad line costs nothing; the run remembers the file's hash and refuses another.

use crate::driver::Drive;
use crate::progress::Event;
use crate::recipe::Recipe;
use crate::stage::Stage;
use crate::{RunError, now_ms};
use merit_core::printable::count;
use merit_core::{EpisodeId, PolicyVersion, Role, Sample};
use merit_import::{Completion, Example, ExampleMessage, Examples, ImportError, Purpose, read_examples};
use merit_learn::{Objective, Scope, SftSequence};
use merit_rollout::{ChatFormat, LaidOut};
use merit_store::RunFolder;
use merit_text::{CalledFunction, ChatMessage, ChatTool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// A file of one's own that stages read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataFile {
    /// JSON lines, a JSON array, or Parquet.
    pub file: String,
}

/// The data of a recipe in the tokens of its policy, by name.
pub(crate) type OwnData = BTreeMap<String, OwnDataset>;

/// The examples of one file, each as its completions.
pub(crate) struct OwnDataset {
    examples: Vec<Vec<Learnable>>,
}

/// A completion with its prompt.
struct Learnable {
    laid: LaidOut,
    reward: f64,
}

impl DataFile {
    /// Its examples, if they can be used as the stages of `recipe` use them. Opens the file.
    pub(crate) fn read(&self, name: &str, recipe: &Recipe) -> Result<Examples, String> {
        let named = |why: String| format!("[datasets.{name}] {}: {why}", self.file);
        let read = read_examples(Path::new(&self.file)).map_err(|error| match error {
            ImportError::Io { why, .. } => named(format!("cannot be read: {why}")),
            other => named(other.to_string()),
        })?;
        recipe.uses(name).try_for_each(|used| used.fits(read.purpose)).map_err(named)?;
        Ok(read)
    }
}

/// How a stage reads a dataset.
pub(crate) enum Use<'a> {
    Imitate,
    Prefer(&'a dyn Objective),
    /// A judge learns from it; the policy does not read it.
    Evolve,
}

impl Use<'_> {
    fn fits(&self, purpose: Purpose) -> Result<(), String> {
        let why = match (self, purpose) {
            (Self::Imitate, Purpose::Imitation) | (Self::Prefer(_) | Self::Evolve, Purpose::Pairs) => {
                return Ok(());
            }
            (Self::Evolve, _) => {
                "it holds no pairs, and a judge learns from pairs; give `chosen` and `rejected`"
            }
            (Self::Imitate, _) => {
                "it holds preferences, and a stage imitates it; use a stage of type `prefer`"
            }
            (Self::Prefer(_), Purpose::Imitation) => {
                "it holds what is to be imitated, and a stage prefers; give `chosen` and `rejected`, or a `label`"
            }
            (Self::Prefer(objective), Purpose::Labels) if objective.scope() == Scope::Pair => {
                "it holds answers with labels, and the objective learns from pairs; use `kto`, or give `chosen` and `rejected`"
            }
            (Self::Prefer(objective), Purpose::Labels) if objective.needs().group_reward => {
                "its labels count as 1 and 0, and nobody says what divides them; set \
                 `objective = { type = \"kto\", threshold = 0.5 }`"
            }
            (Self::Prefer(_), Purpose::Labels) => return Ok(()),
        };
        Err(why.to_owned())
    }
}

pub(crate) fn read(recipe: &Recipe) -> Result<BTreeMap<String, Examples>, RunError> {
    let each = recipe.datasets.iter();
    each.map(|(name, data)| Ok((name.clone(), data.read(name, recipe).map_err(RunError::Data)?))).collect()
}

/// Lays out all data of a recipe, and says what became of it.
pub(crate) fn open(
    read: &BTreeMap<String, Examples>,
    recipe: &Recipe,
    chat: &ChatFormat,
    folder: &RunFolder,
    watch: &mut dyn FnMut(Event),
) -> Result<OwnData, RunError> {
    let mut all = OwnData::new();
    for (name, data) in &recipe.datasets {
        let Some(examples) = read.get(name) else { continue };
        let mark = format!("data/{name}");
        let began_with: Option<String> = folder.mark(&mark)?;
        if began_with.as_ref().is_some_and(|hash| *hash != examples.sha256) {
            return Err(RunError::OtherData { file: data.file.clone() });
        }
        if recipe.uses(name).all(|used| matches!(used, Use::Evolve)) {
            folder.set_mark(&mark, &examples.sha256)?;
            continue;
        }
        let (dataset, told) = lay_out(examples, &data.file, chat, recipe.model.context())
            .map_err(|why| RunError::Data(format!("[datasets.{name}] {}: {why}", data.file)))?;
        if began_with.is_none() {
            let text = format!("`{name}`: {told}");
            folder.set_mark(&mark, &examples.sha256)?;
            folder.record_event(now_ms(), "data", &text)?;
            watch(Event::Note { text });
        }
        all.insert(name.clone(), dataset);
    }
    Ok(all)
}

/// The examples that the policy can read, and how many there are of what.
fn lay_out(
    read: &Examples,
    file: &str,
    chat: &ChatFormat,
    context: usize,
) -> Result<(OwnDataset, String), String> {
    const SHOWN: usize = 10;
    let (mut examples, mut bad, mut long) = (Vec::new(), Vec::new(), 0);
    for example in &read.examples {
        let laid: Result<Vec<Learnable>, String> =
            example.completions.iter().map(|completion| learnable(example, completion, chat)).collect();
        match laid {
            Ok(laid) if laid.iter().any(|one| one.laid.tokens.len() > context) => long += 1,
            Ok(laid) => examples.push(laid),
            Err(why) => bad.push(format!("  line {}: {why}", example.line)),
        }
    }
    let total = read.examples.len();
    if !bad.is_empty() {
        let more = bad.len().saturating_sub(SHOWN);
        let more = if more == 0 { String::new() } else { format!("\n  … and {more} more") };
        let listed = bad[..bad.len().min(SHOWN)].join("\n");
        return Err(format!(
            "{} of {total} examples cannot be laid out for this model, so nothing was learned:\n{listed}{more}",
            bad.len()
        ));
    }
    if examples.is_empty() {
        return Err(format!(
            "all of its {total} examples are longer than the context of {context} tokens; raise `model.context`"
        ));
    }
    let mut told = format!("{} of {file}", count(examples.len(), "example"));
    if long > 0 {
        told.push_str(&format!(
            "; {long} of {total} are longer than the context of {context} tokens and left out"
        ));
    }
    for (field, entries) in &read.unread {
        told.push_str(&format!("; field `{field}` of {entries} is not read"));
    }
    Ok((OwnDataset { examples }, told))
}

fn learnable(example: &Example, completion: &Completion, chat: &ChatFormat) -> Result<Learnable, String> {
    let messages = example.prompt.iter().chain(&completion.messages);
    let messages: Vec<ChatMessage> = messages.map(message).collect();
    let tools: Vec<ChatTool> = example.tools.iter().map(tool).collect::<Result<_, _>>()?;
    let laid = chat.lay_out(&messages, &tools, example.prompt.len()).map_err(|error| error.to_string())?;
    Ok(Learnable { laid, reward: completion.reward })
}

fn message(message: &ExampleMessage) -> ChatMessage {
    let role = match message.role {
        Role::System => "system",
        Role::Policy => "assistant",
        Role::Tool => "tool",
        Role::User | Role::Environment | Role::Hint => "user",
    };
    let calls = message.calls.iter().map(|(id, call)| {
        // Templates write arguments as JSON themselves; a text would be quoted twice.
        let arguments = serde_json::from_str(&call.input).ok().filter(Value::is_object);
        let arguments = arguments.unwrap_or_else(|| Value::String(call.input.clone()));
        CalledFunction { id: id.clone(), name: call.tool.clone(), arguments }
    });
    ChatMessage {
        tool_calls: calls.collect(),
        name: message.tool.clone(),
        tool_call_id: message.call_id.clone(),
        ..ChatMessage::new(role, message.text.clone())
    }
}

fn tool(schema: &Value) -> Result<ChatTool, String> {
    let inner = schema.get("function").unwrap_or(schema);
    let text = |key: &str| inner.get(key).and_then(Value::as_str).map(str::to_owned);
    let name = text("name").ok_or(
        "a tool of `tools` has no `name`; it is { \"type\": \"function\", \"function\": { \"name\": … } }",
    )?;
    let parameters = inner.get("parameters").filter(|parameters| !parameters.is_null()).cloned();
    let parameters = parameters.unwrap_or_else(|| json!({ "type": "object", "properties": {} }));
    Ok(ChatTool { name, description: text("description").unwrap_or_default(), parameters })
}

impl Drive<'_> {
    /// What a stage imitates of a file.
    pub(crate) fn own_sequences(&self, name: &str) -> Vec<SftSequence> {
        let laid = |one: &Learnable| {
            let LaidOut { tokens, mask } = one.laid.clone();
            SftSequence { tokens, mask, weight: 1.0 }
        };
        self.data.get(name).map(|data| data.examples.iter().flatten().map(laid).collect()).unwrap_or_default()
    }

    /// What a stage prefers of a file, example by example.
    pub(crate) fn own_samples(&self, name: &str, stage: &Stage) -> Vec<Vec<Sample>> {
        let sample = |group: usize, member: usize, one: &Learnable| {
            let LaidOut { tokens, mask } = one.laid.clone();
            let len = tokens.len();
            let (group, member) = (u32::try_from(group).unwrap_or(u32::MAX), member as u32);
            Sample {
                episode: EpisodeId { phase: stage.phase.clone(), step: 0, group, member, branch: 0 },
                policy_version: PolicyVersion(0),
                on_policy: false,
                truncated: false,
                group: 0,
                tokens,
                mask,
                observed: vec![false; len],
                // Our policy did not choose these tokens; an objective that asks for them is refused.
                logprobs: vec![0.0; len],
                values: Vec::new(),
                turns: Vec::new(),
                refused: Vec::new(),
                spliced: Vec::new(),
                advantages: None,
                returns: None,
                reward: Some(one.reward),
                window: None,
                weight: 1.0,
            }
        };
        let Some(data) = self.data.get(name) else { return Vec::new() };
        let each = data.examples.iter().enumerate();
        each.map(|(group, example)| {
            example.iter().enumerate().map(|(member, one)| sample(group, member, one)).collect()
        })
        .collect()
    }
}
