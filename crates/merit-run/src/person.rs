//! A person played by a model: what the world's rules have the person say is said in the model's words.
//!
//! In: a world with messages of `Role::User`. Out: the same world with these messages worded by a model; what they say, when, and what
//! they change stays the world's own. Every word that the rules give must be in the sentence. A person who does not say what has to be
//! said, or does not answer, breaks the episode as a failure of the infrastructure: it earns no reward.

use crate::RunError;
use crate::roles::Backend;
use merit_api::{CallLanguage, Env, EnvError, Expert, Manner, StepResult, Tool, Word, World};
use merit_core::{About, Action, CallRecord, End, EpisodeId, Message, Phase, Role, Seed, Split, Task};
use merit_model::Sampler;
use merit_rollout::{ChatFormat, EpisodePlan, RolloutSettings, ToolRuntime, roll_out};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// How often a person is asked for one sentence.
const TRIES: u64 = 3;
/// The most tokens of a sentence.
const TOKENS: usize = 80;
/// How a sentence is drawn; the words that matter are given.
const TEMPERATURE: f32 = 0.7;

const RULES: &str = "You are a person who talks to somebody at work. Say in one short sentence, in your own way, what you are told \
to say and nothing else. Every word and number of it must be in your sentence.";

/// A model that words what a person says. It is opened when it first has to speak.
pub(crate) struct Voice {
    backend: Backend,
    seed: Seed,
    open: Mutex<Option<Open>>,
}

struct Open {
    chat: ChatFormat,
    sampler: Box<dyn Sampler>,
    tools: ToolRuntime,
}

impl Voice {
    pub(crate) fn new(backend: &Backend, seed: Seed) -> Arc<Self> {
        Arc::new(Self { backend: backend.clone(), seed, open: Mutex::new(None) })
    }

    /// `content` in the model's words, as an answer to `heard`.
    fn say(&self, heard: &str, content: &str, seed: &Seed) -> Result<String, String> {
        let mut said = String::new();
        for attempt in 0..TRIES {
            said = self.line(heard, content, seed.child("attempt", attempt))?;
            if has_every_word(&said, content) {
                return Ok(said);
            }
        }
        Err(format!("the person of `roles.user` had to say {content:?} and said {said:?}"))
    }

    fn line(&self, heard: &str, content: &str, seed: Seed) -> Result<String, String> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open = match &mut *open {
            Some(open) => open,
            none => none.insert(self.opened().map_err(|error| error.to_string())?),
        };
        let task = Task {
            id: "person".to_owned(),
            world: LINE.name.to_owned(),
            version: 1,
            split: Split::Train,
            size: 1,
            payload: json!({ "heard": heard, "content": content }),
            answer: None,
        };
        let id = EpisodeId { phase: Phase::train(), step: 0, group: 0, member: 0, branch: 0 };
        let mut settings = RolloutSettings {
            max_turns: 1,
            max_turn_tokens: TOKENS,
            temperature: TEMPERATURE,
            ..RolloutSettings::default()
        };
        self.backend.loosen(&mut settings);
        let plans = vec![EpisodePlan::new(id, task, seed)];
        let sampler = open.sampler.as_mut();
        let played = roll_out(plans, &Line, sampler, &open.chat, &settings, &open.tools, &mut |_| {});
        let episode = played.into_iter().next().ok_or("nothing came of it")?;
        match (&episode.end, episode.turns.last().map(|turn| &turn.action)) {
            (End::Failed { fault }, _) => Err(fault.message.clone()),
            (_, Some(Action::Answer { text })) => Ok(text.clone()),
            _ => Ok(String::new()),
        }
    }

    fn opened(&self) -> Result<Open, RunError> {
        let (chat, sampler) = self.backend.open(&Line, &[], 1, self.seed)?;
        Ok(Open { chat, sampler, tools: ToolRuntime::new()? })
    }
}

/// Whether each word of `content` is among those of `said`, whatever their case and what stands around them.
fn has_every_word(said: &str, content: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let said = words(said);
    words(content).iter().all(|word| said.contains(word))
}

/// A world whose person has a voice.
pub(crate) struct Spoken {
    pub(crate) world: Box<dyn World>,
    pub(crate) voice: Arc<Voice>,
}

impl World for Spoken {
    fn about(&self) -> About {
        self.world.about()
    }

    fn task(&self, split: Split, index: u64, seed: &Seed) -> Result<Task, EnvError> {
        self.world.task(split, index, seed)
    }

    fn open(&self, task: &Arc<Task>, seed: &Seed, state: Option<&Value>) -> Result<Box<dyn Env>, EnvError> {
        let env = self.world.open(task, seed, state)?;
        let (voice, seed) = (Arc::clone(&self.voice), seed.child("person", 0));
        Ok(Box::new(SpokenEnv { env, voice, seed, said: 0, world: self.world.about().name }))
    }

    fn expert(&self) -> Option<&dyn Expert> {
        self.world.expert()
    }

    fn manners(&self) -> Vec<Manner> {
        self.world.manners()
    }

    fn words(&self) -> Vec<Word> {
        self.world.words()
    }
}

struct SpokenEnv {
    env: Box<dyn Env>,
    voice: Arc<Voice>,
    seed: Seed,
    /// Sentences so far.
    said: u64,
    world: &'static str,
}

impl SpokenEnv {
    fn worded(&mut self, heard: &str, mut messages: Vec<Message>) -> Result<Vec<Message>, EnvError> {
        for message in messages.iter_mut().filter(|message| message.role == Role::User) {
            let seed = self.seed.child("sentence", self.said);
            self.said += 1;
            let broken = |why| EnvError::Broken { world: self.world, why };
            message.text = self.voice.say(heard, &message.text, &seed).map_err(broken)?;
        }
        Ok(messages)
    }
}

impl Env for SpokenEnv {
    fn reset(&mut self) -> Result<Vec<Message>, EnvError> {
        let messages = self.env.reset()?;
        self.said = 0;
        self.worded("", messages)
    }

    fn step(&mut self, action: &Action, calls: &[CallRecord]) -> Result<StepResult, EnvError> {
        let result = self.env.step(action, calls)?;
        let heard = match action {
            Action::Say { text } | Action::Answer { text } => text.as_str(),
            Action::Calls { .. } | Action::Malformed { .. } => "",
        };
        let observations = self.worded(heard, result.observations)?;
        Ok(StepResult { observations, ..result })
    }

    fn snapshot(&self) -> Value {
        self.env.snapshot()
    }

    fn parse(&self, text: &str) -> Action {
        self.env.parse(text)
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.env.tools()
    }

    fn call_language(&self) -> Option<Arc<dyn CallLanguage>> {
        self.env.call_language()
    }

    fn schema(&self) -> Option<Value> {
        self.env.schema()
    }

    fn stops(&self) -> Vec<String> {
        self.env.stops()
    }
}

/// One sentence to say.
struct Line;

const LINE: About = About { name: "line", summary: "one sentence to say", paper: "" };

impl World for Line {
    fn about(&self) -> About {
        LINE
    }

    fn task(&self, _: Split, _: u64, _: &Seed) -> Result<Task, EnvError> {
        Err(EnvError::Broken { world: LINE.name, why: "its tasks are given".to_owned() })
    }

    fn open(&self, task: &Arc<Task>, _: &Seed, _: Option<&Value>) -> Result<Box<dyn Env>, EnvError> {
        Ok(Box::new(OpenLine(Arc::clone(task))))
    }
}

struct OpenLine(Arc<Task>);

impl Env for OpenLine {
    fn reset(&mut self) -> Result<Vec<Message>, EnvError> {
        let told = |key: &str| self.0.payload[key].as_str().unwrap_or_default();
        let heard = match told("heard") {
            "" => String::new(),
            heard => format!("You were told: {heard}\n"),
        };
        let asked = format!("{heard}Say: {}", told("content"));
        Ok(vec![Message::new(Role::System, RULES), Message::new(Role::User, asked)])
    }

    fn step(&mut self, _: &Action, _: &[CallRecord]) -> Result<StepResult, EnvError> {
        Ok(StepResult::default().answered())
    }

    fn snapshot(&self) -> Value {
        Value::Null
    }

    fn parse(&self, text: &str) -> Action {
        Action::Answer { text: text.trim().to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::has_every_word;

    #[test]
    fn a_sentence_must_have_every_word_that_was_given() {
        assert!(has_every_word("Well, it is Order 14.", "order 14"));
        assert!(has_every_word("Why do you ask?", "why"));
        assert!(!has_every_word("It is order 41.", "order 14"));
        assert!(!has_every_word("It is order 140.", "order 14"));
        assert!(!has_every_word("", "bob"));
    }
}
