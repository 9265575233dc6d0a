//! Every world by calls: an expert behind a real model's chat template and call format does what it does by lines.
//!
//! The expert's line becomes a call, the call is written as a model of the Qwen family writes it, read as a server reads it, sent as JSON
//! and turned into a line again. The template shows the tools, each call and each answer.

use merit_api::{CallLanguage, EpisodeShared, StepResult, ToolAnswer, ToolSession, call_blocking};
use merit_core::{Action, CallEnd, CallRecord, Message, Role, Seed, Split, Task, ToolCall};
use merit_env::{Env, EnvError, ExpertTurn, LiveTools, WORLDS, World, read_world};
use merit_text::{CalledFunction, ChatMessage, ChatTemplate, ChatTool, SpecialTokens, TemplateContext};
use merit_tools::formats::call_format;
use std::sync::Arc;
use std::time::Duration;

const TEMPLATE: &str = include_str!("../../../merit-text/tests/templates/qwen_tools.jinja");
/// Worlds whose tasks are over with one answer in words, so that there is nothing to call.
const ONE_ANSWER: [&str; 3] = ["lens", "catalogue", "tutor"];

/// Everything that a play left behind.
#[derive(Debug, PartialEq)]
struct Played {
    steps: Vec<(Action, StepResult)>,
    state: serde_json::Value,
}

/// A task that is being played.
struct Table {
    env: Box<dyn Env>,
    first: Vec<Message>,
    tools: Vec<(String, Arc<dyn ToolSession>)>,
    steps: Vec<(Action, StepResult)>,
}

impl Table {
    fn open(world: &dyn World, task: &Arc<Task>) -> Self {
        let mut env = world.open(task, &Seed::root(1), None).unwrap();
        let (first, shared) = (env.reset().unwrap(), EpisodeShared::default());
        let tools = env.tools();
        let tools = tools
            .iter()
            .map(|tool| (tool.spec().name.clone(), tool.open_beside(&shared, task, None).unwrap()));
        Self { first, tools: tools.collect(), env, steps: Vec::new() }
    }

    fn run(&self, call: &ToolCall) -> CallRecord {
        let session = self.tools.iter().find(|(name, _)| *name == call.tool).map(|(_, session)| session);
        let answer =
            session.map(|session| call_blocking(session, &call.input, Duration::from_secs(5)).unwrap());
        let (end, output) = match answer {
            Some(ToolAnswer::Ok(text)) => (CallEnd::Ok, text),
            Some(ToolAnswer::Refused(text)) => (CallEnd::Refused, text),
            None => (CallEnd::Refused, format!("no tool `{}`", call.tool)),
            other => panic!("{other:?}"),
        };
        CallRecord { call: call.clone(), end, output, seconds: Some(0.0) }
    }

    /// Says a line; gives what is seen then. Absent: the task is over.
    fn say(&mut self, line: &str) -> Option<Vec<Message>> {
        let action = self.env.parse(line);
        let results: Vec<CallRecord> = match &action {
            Action::Calls { calls } => calls.iter().map(|call| self.run(call)).collect(),
            _ => Vec::new(),
        };
        let result = self.env.step(&action, &results).unwrap();
        let (seen, last) = (result.observations.clone(), result.is_last());
        self.steps.push((action, result));
        (!last).then_some(seen)
    }

    fn played(self) -> Played {
        Played { state: self.env.snapshot(), steps: self.steps }
    }
}

/// The server of a model: its template and the tools that it was told.
struct Server {
    template: ChatTemplate,
    setting: TemplateContext,
    messages: Vec<ChatMessage>,
}

impl Server {
    fn new(language: &dyn CallLanguage, first: &[Message]) -> Self {
        let tool = |tool: &merit_api::ToolSpec| ChatTool {
            name: tool.name.clone(),
            description: tool.summary.clone(),
            parameters: tool.arguments.schema(),
        };
        let tools = language.tools().iter().map(tool).collect();
        let message = |message: &Message| {
            ChatMessage::new(if message.role == Role::System { "system" } else { "user" }, &message.text)
        };
        Self {
            template: ChatTemplate::parse(TEMPLATE, SpecialTokens::default()).unwrap(),
            setting: TemplateContext { tools, ..TemplateContext::default() },
            messages: first.iter().map(message).collect(),
        }
    }

    fn shown(&self) -> String {
        self.template.render(&self.messages, &self.setting, true).unwrap()
    }

    /// What the world hears when a model makes these calls: they are written, read by the server, and sent as JSON.
    fn hears(&mut self, language: &dyn CallLanguage, beside: &str, calls: &[ToolCall]) -> String {
        let format = call_format("hermes").unwrap().component();
        let written = format.write(calls, language.tools());
        let read =
            format.parse(&written, language.tools()).unwrap_or_else(|error| panic!("{written}: {error}"));
        let mut message = ChatMessage::new("assistant", beside);
        let mut made = Vec::new();
        for call in &read.calls {
            let card = language.tools().iter().find(|tool| tool.name == call.tool);
            let arguments =
                card.map_or(serde_json::json!({}), |card| card.arguments.arguments(&call.input).unwrap());
            let input = card.map_or(call.input.clone(), |card| card.arguments.input(&arguments).unwrap());
            message.tool_calls.push(CalledFunction { id: None, name: call.tool.clone(), arguments });
            made.push(ToolCall { tool: call.tool.clone(), input });
        }
        self.messages.push(message);
        language.write(beside, &made)
    }

    /// The first that is seen after a call answers it.
    fn sees(&mut self, language: &dyn CallLanguage, called: &[ToolCall], seen: &[Message]) {
        for (at, message) in seen.iter().enumerate() {
            self.messages.push(match called.get(at) {
                Some(call) => ChatMessage::new("tool", language.answered(&call.tool, &message.text)),
                None => ChatMessage::new("user", &message.text),
            });
        }
    }
}

type Say<'a> = dyn Fn(&[ExpertTurn]) -> Result<String, EnvError> + 'a;

/// Plays a task by lines and by calls, and holds one against the other. Whether anything was called.
fn same_by_calls(world: &dyn World, task: &Arc<Task>, say: &Say<'_>) -> bool {
    let (mut by_lines, mut by_calls) = (Table::open(world, task), Table::open(world, task));
    let language = by_calls.env.call_language().unwrap();
    let mut server = Server::new(&*language, &by_calls.first);
    let told = server.shown();
    for tool in language.tools() {
        assert!(
            told.contains(&format!("\"name\": \"{}\"", tool.name))
                || told.contains(&format!("\"name\":\"{}\"", tool.name)),
            "{told}"
        );
    }
    let (mut turns, mut called) = (Vec::new(), false);
    for _ in 0..100 {
        let said = say(&turns).unwrap();
        let read = language.read(&said);
        let heard = match &read {
            Some((beside, calls)) => server.hears(&*language, beside, calls),
            None => said.clone(),
        };
        called |= read.is_some();
        let shown = server.shown();
        for call in read.iter().flat_map(|(_, calls)| calls) {
            assert!(shown.contains(&format!("<tool_call>\n{{\"name\": \"{}\"", call.tool)), "{shown}");
        }
        let seen = by_lines.say(&said);
        assert_eq!(by_calls.say(&heard), seen, "{said:?} was heard as {heard:?}");
        let Some(seen) = seen else { break };
        let calls = read.map_or(Vec::new(), |(_, calls)| calls);
        server.sees(&*language, &calls, &seen);
        if let (Some(call), Some(first)) = (calls.first(), seen.first()) {
            let answer =
                format!("<tool_response>\n{}\n</tool_response>", language.answered(&call.tool, &first.text));
            assert!(server.shown().contains(&answer), "{answer}");
        }
        turns.push(ExpertTurn { said, observed: seen });
    }
    assert_eq!(by_calls.played(), by_lines.played());
    called
}

/// Some tasks of both splits, right, wrong and in every manner. Whether anything was called in each of them.
fn plays_by_calls(settings: &str) -> bool {
    let world = read_world(settings).unwrap().build(&LiveTools).unwrap();
    let expert = world.expert().unwrap();
    let mut all = true;
    for (split, index) in [(Split::Train, 0), (Split::Train, 1), (Split::HeldOut, 2)] {
        let task = Arc::new(world.task(split, index, &Seed::root(5)).unwrap());
        let seed = Seed::root(6).child("episode", index);
        for p_correct in [1.0, 0.0] {
            all &= same_by_calls(&*world, &task, &|turns| expert.say(&task, turns, p_correct, &seed));
        }
        for manner in world.manners() {
            all &= same_by_calls(&*world, &task, &|turns| expert.say_in(manner.name, &task, turns, &seed));
        }
    }
    all
}

#[test]
fn every_world_is_played_by_calls_to_the_same_end_as_by_lines() {
    // The examples of `command` and `python` name a program that is not there; `tasks` takes an answer in words, which is no call.
    for entry in WORLDS.iter().filter(|entry| !["command", "python"].contains(&entry.about.name)) {
        let name = entry.about.name;
        let called = plays_by_calls(&format!("type = {name:?}\n{}", entry.example));
        assert_eq!(called, !ONE_ANSWER.contains(&name) && name != "tasks", "{name}");
    }
}

#[test]
fn every_mode_of_a_world_has_its_own_commands() {
    for settings in [
        "type = \"service\"\nall_told = true\ninstructions = true",
        "type = \"kbqa\"\nmode = \"notes\"",
        "type = \"kbqa\"\nmode = \"units\"",
        "type = \"kbqa\"\nmode = \"planner\"",
        "type = \"kbqa\"\nmode = \"mask\"",
        "type = \"kbqa\"\nmasked = 0.5\nsynonyms = 0.5",
        "type = \"kbqa\"\nfixed = 0.5\nlabel = \"search\"",
        "type = \"look\"\nmode = \"judge\"",
        "type = \"look\"\nmode = \"video\"\nsizes = [1, 2]",
        "type = \"look\"\nmode = \"count\"\nsizes = [1, 2]\nnamed = 0.5",
        "type = \"look\"\ntool = false",
        "type = \"boards\"\nkind = \"push\"\nsizes = [1]",
        "type = \"boards\"\nkind = \"strings\"",
        "type = \"boards\"\nkind = \"strings\"\nspelling = 3\nletters = 5",
        "type = \"places\"\nskin = \"quests\"",
        "type = \"places\"\nskin = \"plan\"",
        "type = \"places\"\nskin = \"site\"",
        "type = \"places\"\nskin = \"errands\"\nlever = true",
        "type = \"places\"\nskin = \"blocks\"",
        "type = \"repair\"\nbugs = 2\nwindow = 2",
        "type = \"synth\"\nkind = \"faster\"\nexploits = true\nnotes = true\nsizes = [2]",
        "type = \"toolshelf\"\nmode = \"retrieve\"\nsizes = [2]",
        "type = \"toolshelf\"\nmode = \"document\"\nsizes = [1]",
        "type = \"toolshelf\"\nnames = \"tokens\"",
        "type = \"toolshelf\"\nnames = \"numbers\"",
        "type = \"travel\"\napi = \"live\"",
        "type = \"sums\"\ntool = \"none\"\nscratchpad = 1.0",
        "type = \"pairs\"\ntools = false",
        "type = \"ledger\"\ntools = false",
        "type = \"ledger\"\nkinds = { total = 0.5, sql = 0.5 }\nsizes = [2]",
        "type = \"ledger\"\nkinds = { lookup = 0.5, calc = 0.5 }\ncall = \"json\"",
        "type = \"rows\"\ntool = false",
    ] {
        assert!(plays_by_calls(settings), "{settings}");
    }
}

#[test]
fn a_wrong_call_is_what_the_world_itself_refuses() {
    let world = read_world("type = \"service\"").unwrap().build(&LiveTools).unwrap();
    let task = Arc::new(world.task(Split::Train, 0, &Seed::root(5)).unwrap());
    let hint = "say ask FACT, find NAME, order N, cancel N, move N TOWN, refund N, tell WORD or done";
    let long = format!("{{\"name\":\"{}\"}}", "bob ".repeat(10_000));
    for (tool, input, heard) in [
        ("ask", "{\"fact\":\"age\"}", "ask age"),
        ("ask", "{}", "ask({})"),
        ("move", "{\"order\":14}", "move({\"order\":14})"),
        ("move", "{\"order\":14,\"town\":\"paris\"}", "move 14 paris"),
        ("done", "{\"now\":true}", "done({\"now\":true})"),
        ("fly", "{}", "fly({})"),
        ("find", "no json\n", "find(no json )"),
        ("find", long.as_str(), &format!("find({long})")),
    ] {
        let mut table = Table::open(&*world, &task);
        let language = table.env.call_language().unwrap();
        let call = ToolCall { tool: tool.to_owned(), input: input.to_owned() };
        let line = language.write("", &[call]);
        assert_eq!(line, heard);
        let seen = table.say(&line).unwrap();
        assert_eq!(seen.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), [hint]);
    }
}
