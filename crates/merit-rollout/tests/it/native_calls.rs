//! Calls by the protocol: a server is told a world's tools, calls them in its own way, and the record is the world's own text.

use crate::common::{Counting, chat, plan};
use merit_api::World;
use merit_core::conformance::check_episode;
use merit_core::{CallEnd, End, Episode, EpisodeId, Outcome, Role, Seed, Split};
use merit_endpoint::{EndpointConfig, Reply, ScriptedServer};
use merit_model::Tokenizer;
use merit_rollout::{
    CallForm, ChatFormat, EpisodePlan, OpenAiSampler, OpenAiSettings, PromptForm, RolloutSettings, ToolRole,
    ToolRuntime, roll_out,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn world(text: &str) -> Box<dyn World> {
    merit_env::read_world(text).unwrap().build(&merit_env::LiveTools).unwrap()
}

fn settings(server: &ScriptedServer) -> OpenAiSettings {
    let endpoint =
        EndpointConfig { retries: 0, deadline_s: 20.0, ..EndpointConfig::new(server.base_url(), "tiny") };
    OpenAiSettings { calls: CallForm::Native, ..OpenAiSettings::new(endpoint) }
}

fn play(env: &dyn World, plan: EpisodePlan, chat: &ChatFormat, settings: &OpenAiSettings) -> Arc<Episode> {
    let mut sampler = OpenAiSampler::open(settings, chat, Seed::root(1)).unwrap();
    let rules = RolloutSettings { temperature: 1.0, top_p: 1.0, ..RolloutSettings::default() };
    let tools = ToolRuntime::new().unwrap();
    let mut episodes = roll_out(vec![plan], env, &mut sampler, chat, &rules, &tools, &mut |_| {});
    let episode = episodes.remove(0);
    assert_eq!(check_episode(&episode), Vec::<String>::new());
    episode
}

fn first_of(env: &dyn World) -> EpisodePlan {
    let id = EpisodeId { phase: "test".into(), step: 0, group: 0, member: 0, branch: 0 };
    EpisodePlan::new(id, env.task(Split::Train, 0, &Seed::root(1)).unwrap(), Seed::root(1))
}

fn bytes() -> ChatFormat {
    ChatFormat::new(Arc::new(Tokenizer::train(std::iter::empty(), 0))).unwrap()
}

/// An answer that calls tools, named with the text of their arguments.
fn calling(said: &str, calls: &[(&str, &str)]) -> Reply {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(name, arguments)| {
            json!({ "id": "srv", "type": "function", "function": { "name": name, "arguments": arguments } })
        })
        .collect();
    let message = json!({ "role": "assistant", "content": said, "tool_calls": calls });
    Reply::json(
        200,
        &json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] }),
    )
}

const HERMES: &str = "type = \"tasks\"\nfile = \"arithmetic\"\ncalls = \"hermes\"";

#[test]
fn a_server_calls_tools_in_its_own_way_and_gets_each_answer_under_its_id() {
    let server = ScriptedServer::start(|asked| match asked.number {
        0 => calling(
            "Two sums.",
            &[("calc", "{\"expression\": \"2+3\"}"), ("calc", "{\"expression\":\"6*7\"}")],
        ),
        _ => Reply::chat("Answer: 42"),
    })
    .unwrap();
    let env = world(HERMES);
    let episode = play(&*env, first_of(&*env), &bytes(), &settings(&server));
    assert_eq!((&episode.end, episode.answer()), (&End::Answered, Some("42")));
    let inputs: Vec<&str> = episode.turns[0].calls.iter().map(|call| call.call.input.as_str()).collect();
    assert_eq!(inputs, ["2+3", "6*7"]);
    // The record is what a model that writes text would have said.
    let said = episode.transcript.segments().iter().find(|segment| segment.role == Role::Policy).unwrap();
    assert!(said.text.starts_with("Two sums.\n<tool_call>"), "{}", said.text);

    let asked = server.asked();
    let tools: Vec<&str> = asked[0].body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(tools, ["calc", "lookup"]);
    assert_eq!(asked[0].body["tools"][0]["function"]["parameters"]["required"], json!(["expression"]));
    assert_eq!((&asked[0].body["stop"], &asked[0].body["parallel_tool_calls"]), (&Value::Null, &Value::Null));
    let messages = asked[1].body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"]);
    let system = messages[0]["content"].as_str().unwrap();
    assert!(system.contains("Answer the question") && !system.contains("tool_call"), "{system}");
    assert_eq!(messages[2]["content"], "Two sums.");
    let calls = messages[2]["tool_calls"].as_array().unwrap();
    for (place, (call, answer)) in calls.iter().zip(&messages[3..]).enumerate() {
        assert_eq!((&call["id"], &call["type"]), (&answer["tool_call_id"], &json!("function")));
        assert_eq!(answer["content"], ["5", "42"][place], "the answer itself, without the text's tags");
    }
    assert_ne!(calls[0]["id"], calls[1]["id"]);
    assert_eq!(calls[0]["function"], json!({ "name": "calc", "arguments": "{\"expression\":\"2+3\"}" }));
}

/// The lines of the world's own expert, as the calls that they are: name, arguments and the line.
fn expert_calls(env: &dyn World, plan: &EpisodePlan) -> Vec<(String, String, String)> {
    let task = &plan.task;
    let mut open = env.open(task, &plan.world_seed(), None).unwrap();
    open.reset().unwrap();
    let language = open.call_language().unwrap();
    let (mut turns, mut calls) = (Vec::new(), Vec::new());
    loop {
        let said = env.expert().unwrap().say(task, &turns, 1.0, &Seed::root(1)).unwrap();
        let call = language.read(&said).unwrap().1.remove(0);
        let card = language.tools().iter().find(|tool| tool.name == call.tool).unwrap();
        let arguments = card.arguments.arguments(&call.input).unwrap().to_string();
        calls.push((call.tool, arguments, said.clone()));
        let result = open.step(&open.parse(&said), &[]).unwrap();
        if result.is_last() {
            return calls;
        }
        turns.push(merit_api::ExpertTurn { said, observed: result.observations });
    }
}

#[test]
fn the_commands_of_text_worlds_are_called_like_tools_and_answered_by_the_world() {
    for text in ["type = \"service\"\ninstructions = true", "type = \"boards\"\nkind = \"push\"\nsizes = [1]"]
    {
        let env = world(text);
        let calls = expert_calls(&*env, &first_of(&*env));
        let script = calls.clone();
        let server = ScriptedServer::start(move |asked| match asked.number.checked_sub(1) {
            None => calling("", &[("fly", "{\"to\": \"rome\"}")]),
            Some(at) => {
                let (name, arguments, _) = &script[at];
                calling("", &[(name, arguments)])
            }
        })
        .unwrap();
        let episode = play(&*env, first_of(&*env), &bytes(), &settings(&server));
        assert!(matches!(episode.end, End::Answered | End::EnvironmentDone), "{text}: {:?}", episode.end);
        let last = episode.turns.last().unwrap();
        assert_eq!(last.info.get("solved").or(last.info.get("won")), Some(&1.0), "{text}");
        let said: Vec<&str> = episode
            .transcript
            .segments()
            .iter()
            .filter(|segment| segment.role == Role::Policy)
            .map(|segment| segment.text.trim_end_matches("<|end|>").trim_end())
            .collect();
        let lines: Vec<&str> = calls.iter().map(|(_, _, line)| line.as_str()).collect();
        assert_eq!((said[0], &said[1..]), ("fly({\"to\": \"rome\"})", lines.as_slice()), "{text}");

        let asked = server.asked();
        let (first, rest) = (&asked[0].body, &asked[1..]);
        assert!(first["tools"].as_array().is_some_and(|tools| !tools.is_empty()));
        assert_eq!(first["parallel_tool_calls"], false);
        let messages = rest.last().unwrap().body["messages"].as_array().unwrap();
        let open: Vec<&Value> = messages.iter().filter(|message| message["role"] == "assistant").collect();
        assert_eq!(open.len(), calls.len());
        for (message, (name, arguments, line)) in open[1..].iter().zip(&calls) {
            let function = &message["tool_calls"][0]["function"];
            assert_eq!(
                (&function["name"], &function["arguments"]),
                (&json!(name), &json!(arguments)),
                "{line}"
            );
        }
        // Each call but the unknown one, which is what the model said, is answered under its id.
        for pair in messages.windows(2).filter(|pair| pair[0]["tool_calls"].is_array()) {
            assert_eq!(pair[1]["role"], "tool");
            assert_eq!(pair[1]["tool_call_id"], pair[0]["tool_calls"][0]["id"]);
        }
    }
}

#[test]
fn wrong_calls_are_the_models_own_and_it_is_told() {
    for wrong in [("calc", "no json"), ("calc", "{\"expr\": \"1\"}"), ("clac", "{}")] {
        let server = ScriptedServer::start(move |asked| match asked.number {
            0 => calling("", &[wrong]),
            _ => Reply::chat("Answer: 1"),
        })
        .unwrap();
        let env = world(HERMES);
        let episode = play(&*env, first_of(&*env), &bytes(), &settings(&server));
        assert_eq!(episode.end, End::Answered, "{wrong:?}");
        assert!(episode.turns[0].calls.iter().all(|call| call.end == CallEnd::Refused), "{wrong:?}");
        let asked = server.asked();
        let last = asked[1].body["messages"].as_array().unwrap().last().unwrap();
        assert!(last["content"].as_str().is_some_and(|text| !text.is_empty()), "{wrong:?}: {last}");
    }
}

#[test]
fn where_a_turn_holds_one_call_the_first_is_made() {
    let server = ScriptedServer::start(|asked| match asked.number {
        0 => calling(
            "Let me see.\n",
            &[("calc", "{\"expression\": \"1+\\n1\"}"), ("calc", "{\"expression\": \"9\"}")],
        ),
        _ => Reply::chat("answer 2"),
    })
    .unwrap();
    let env = world("type = \"ledger\"");
    let episode = play(&*env, first_of(&*env), &bytes(), &settings(&server));
    let calls: Vec<&str> = episode.turns[0].calls.iter().map(|call| call.call.input.as_str()).collect();
    assert_eq!((calls, episode.answer()), (vec!["1+ 1"], Some("2")));
    let asked = server.asked();
    assert_eq!(asked[0].body["parallel_tool_calls"], false);
    let messages = asked[1].body["messages"].as_array().unwrap();
    assert_eq!(messages[1]["tool_calls"].as_array().unwrap().len(), 1);
    assert_eq!((&messages[2]["role"], &messages[2]["content"]), (&json!("tool"), &json!("2")));
}

#[test]
fn calls_where_text_was_wanted_and_worlds_without_a_language_are_failures_in_words() {
    let server = ScriptedServer::start(|_| calling("", &[("calc", "{}")])).unwrap();
    let env = world("type = \"ledger\"");
    let text = OpenAiSettings { calls: CallForm::Text, ..settings(&server) };
    let episode = play(&*env, first_of(&*env), &bytes(), &text);
    let End::Failed { fault } = &episode.end else { panic!("{:?}", episode.end) };
    assert!(fault.message.contains("--native-tools"), "{}", fault.message);
    assert_eq!(Outcome::of(&episode, None), Outcome::InfrastructureFailed);

    let episode = play(&Counting, plan(0), &chat(), &settings(&server));
    let End::Failed { fault } = &episode.end else { panic!("{:?}", episode.end) };
    assert!(fault.message.contains("calls = \"text\""), "{}", fault.message);
}

#[test]
fn the_kind_of_a_servers_failure_is_kept_with_the_episode() {
    let server =
        ScriptedServer::start(|_| Reply::json(429, &json!({ "error": { "message": "slow down" } }))).unwrap();
    let env = world("type = \"ledger\"");
    let episode = play(&*env, first_of(&*env), &bytes(), &settings(&server));
    let End::Failed { fault } = &episode.end else { panic!("{:?}", episode.end) };
    assert_eq!(fault.cause.as_deref(), Some("server said 429"));
    assert!(fault.message.contains("slow down"), "{}", fault.message);
}

#[test]
fn settings_that_do_nothing_beside_native_calls_are_refused() {
    let server = ScriptedServer::start(|_| Reply::default()).unwrap();
    let native = settings(&server);
    let cases = [
        (OpenAiSettings { prompt: Some(PromptForm::Tokens), ..native.clone() }, "needs messages and text"),
        (OpenAiSettings { tool_role: Some(ToolRole::Tool), ..native.clone() }, "`tool_role` does nothing"),
    ];
    for (settings, says) in cases {
        let error = settings.validate().unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    assert_eq!(native.validate(), Ok(()));
}
