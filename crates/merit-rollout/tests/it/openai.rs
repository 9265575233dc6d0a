//! Models behind endpoints as roles: whole rollouts over real sockets, with a server that plays by a script.

use crate::common::{Counting, chat, plan};
use merit_api::{ExpertTurn, World};
use merit_core::conformance::check_episode;
use merit_core::{
    Boundary, End, Episode, EpisodeId, Known, Message, Outcome, Provenance, Role, Seed, Split, TokenId,
};
use merit_endpoint::{Asked, EndpointConfig, Reply, ScriptedServer, Server};
use merit_model::{
    CompletionSink, Counted, Pump, SampleRequest, Sampler, SamplerError, SamplingParams, SessionId,
    StopReason, Tokenizer,
};
use merit_rollout::{
    ChatFormat, EpisodePlan, LogprobKind, OpenAiSampler, OpenAiSettings, PromptForm, RolloutSettings,
    TokenSource, ToolRuntime, roll_out, tree,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

fn settings(server: &ScriptedServer) -> OpenAiSettings {
    let endpoint = EndpointConfig::new(server.base_url(), "tiny");
    OpenAiSettings::new(EndpointConfig { retries: 1, backoff_base_s: 0.01, deadline_s: 20.0, ..endpoint })
}

fn from_server(server: &ScriptedServer) -> OpenAiSettings {
    let settings = settings(server);
    let endpoint = EndpointConfig { server: Server::Vllm, ..settings.endpoint };
    OpenAiSettings { endpoint, tokens: TokenSource::Server, ..settings }
}

fn ledger() -> Arc<dyn World> {
    merit_env::read_world("type = \"ledger\"").unwrap().build(&merit_env::LiveTools).unwrap().into()
}

fn ledger_chat() -> ChatFormat {
    ChatFormat::new(Arc::new(Tokenizer::train(["lookup price calc 12*3+4 answer 159\n"].into_iter(), 290)))
        .unwrap()
}

fn ledger_plans(env: &dyn World, count: u32) -> Vec<EpisodePlan> {
    let plan = |member: u32| {
        EpisodePlan::new(
            EpisodeId { phase: "test".into(), step: 0, group: 0, member, branch: 0 },
            env.task(Split::Train, u64::from(member), &Seed::root(1)).unwrap(),
            Seed::root(u64::from(member)),
        )
    };
    (0..count).map(plan).collect()
}

/// What the expert says after `heard`, whose first words of the user tell the task.
fn right_words(env: &dyn World, plans: &[EpisodePlan], heard: &[Message]) -> String {
    let opening = |plan: &EpisodePlan| {
        let mut env = env.open(&plan.task, &plan.world_seed(), None).unwrap();
        env.reset().unwrap().into_iter().find(|message| message.role == Role::User).unwrap().text
    };
    let question = &heard.iter().find(|message| message.role == Role::User).unwrap().text;
    let plan = plans.iter().find(|plan| opening(plan) == *question).unwrap();
    let mut turns: Vec<ExpertTurn> = Vec::new();
    for message in heard {
        match (message.role, turns.last_mut()) {
            (Role::Policy, _) => turns.push(ExpertTurn { said: message.text.clone(), observed: Vec::new() }),
            (_, Some(turn)) => turn.observed.push(Message::new(Role::Tool, message.text.clone())),
            (_, None) => {}
        }
    }
    env.expert().unwrap().say(&plan.task, &turns, 1.0, &plan.seed).unwrap()
}

/// The messages of a conversation as it was sent.
fn sent(asked: &Asked) -> Vec<Message> {
    let role = |word: &Value| match word.as_str().unwrap() {
        "system" => Role::System,
        "assistant" => Role::Policy,
        _ => Role::User,
    };
    let messages = asked.body["messages"].as_array().unwrap();
    messages.iter().map(|m| Message::new(role(&m["role"]), m["content"].as_str().unwrap())).collect()
}

fn play(
    plans: Vec<EpisodePlan>,
    env: &dyn World,
    sampler: &mut dyn Sampler,
    chat: &ChatFormat,
) -> Vec<Arc<Episode>> {
    let rules = RolloutSettings { temperature: 1.0, top_p: 1.0, ..RolloutSettings::default() };
    let episodes = roll_out(plans, env, sampler, chat, &rules, &ToolRuntime::new().unwrap(), &mut |_| {});
    let found: Vec<String> = episodes.iter().flat_map(|episode| check_episode(episode)).collect();
    assert_eq!(found, Vec::<String>::new());
    episodes
}

fn policy_segments(episode: &Episode) -> Vec<&merit_core::Segment> {
    episode.transcript.segments().iter().filter(|segment| segment.role == Role::Policy).collect()
}

#[test]
fn a_server_that_knows_the_answer_solves_the_ledger_and_nothing_trains_on_it() {
    let env = ledger();
    let (chat, plans) = (ledger_chat(), ledger_plans(&*env, 4));
    let (playing, known) = (Arc::clone(&env), plans.clone());
    let server =
        ScriptedServer::start(move |asked| Reply::chat(&right_words(&*playing, &known, &sent(asked))))
            .unwrap();
    let mut sampler = OpenAiSampler::open(&settings(&server), &chat, Seed::root(1)).unwrap();
    let episodes = play(plans.clone(), &*env, &mut sampler, &chat);
    for episode in &episodes {
        assert_eq!(episode.end, End::Answered);
        assert_eq!(episode.answer(), episode.task.answer.as_deref());
        assert!(episode.turns.len() > 1, "it looked things up");
        for segment in policy_segments(episode) {
            assert_eq!((segment.provenance, segment.known), (Provenance::Synthetic, Known::Tokens));
        }
        assert!(!episode.transcript.complete(), "without log-probabilities it cannot become a sample");
    }
    assert_eq!(server.asked().len(), episodes.iter().map(|episode| episode.turns.len()).sum::<usize>());

    let forks = tree(&plans[0], &episodes[0], &[1], 1, 1).unwrap();
    let forked = play(forks, &*env, &mut sampler, &chat);
    assert_eq!((&forked[0].end, forked[0].answer()), (&End::Answered, episodes[0].answer()));
    assert_eq!(
        policy_segments(&forked[0])[0].provenance,
        Provenance::Synthetic,
        "a repetition makes no sample of it"
    );
}

#[test]
fn tokens_and_log_probabilities_of_a_server_are_the_record() {
    let env = ledger();
    let (chat, plans) = (ledger_chat(), ledger_plans(&*env, 2));
    let (playing, known, words) = (Arc::clone(&env), plans.clone(), chat.clone());
    let server = ScriptedServer::start(move |asked| {
        let context: Vec<TokenId> = serde_json::from_value(asked.body["prompt"].clone()).unwrap();
        let text = right_words(&*playing, &known, &words.read(&context));
        let stops: Vec<String> = serde_json::from_value(asked.body["stop"].clone()).unwrap();
        let ids = words.say(&text, &stops).tokens;
        let logprobs: Vec<f32> = (0..ids.len()).map(|place| -0.125 * place as f32).collect();
        let scores = json!({ "tokens": ids.iter().map(|id| id.0.to_string()).collect::<Vec<_>>(), "token_logprobs": logprobs });
        let choice = json!({ "text": text, "finish_reason": "stop", "token_ids": ids, "prompt_token_ids": context,
                             "logprobs": scores });
        Reply::json(200, &json!({ "choices": [choice] }))
    })
    .unwrap();
    let mut sampler = OpenAiSampler::open(&from_server(&server), &chat, Seed::root(1)).unwrap();
    for episode in play(plans, &*env, &mut sampler, &chat) {
        assert_eq!(episode.answer(), episode.task.answer.as_deref());
        assert!(episode.transcript.complete());
        for segment in policy_segments(&episode) {
            assert_eq!(segment.provenance, Provenance::Sampled);
            let expected: Vec<f32> = (0..segment.tokens.len()).map(|place| -0.125 * place as f32).collect();
            assert_eq!(segment.logprobs, expected);
        }
    }
    let body = &server.asked()[0].body;
    assert_eq!((&body["return_token_ids"], &body["logprobs"]), (&json!(true), &json!(0)));
    assert_eq!(body["stop_token_ids"], json!([chat.end()]));
}

#[test]
fn a_dead_server_is_an_infrastructure_failure_and_siblings_go_on() {
    let server = ScriptedServer::start(|asked| {
        let text = sent(asked);
        let task = &text.iter().find(|message| message.role == Role::User).unwrap().text;
        match (task.contains("task t1 "), text.len()) {
            (true, _) => Reply::default(),
            (_, 2) => Reply::chat("call add 1 2\nand more"),
            _ => Reply::chat("answer 3"),
        }
    })
    .unwrap();
    let chat = chat();
    let mut sampler = OpenAiSampler::open(&settings(&server), &chat, Seed::root(1)).unwrap();
    let episodes = play(vec![plan(0), plan(1), plan(2)], &Counting, &mut sampler, &chat);
    for sibling in [0, 2] {
        assert_eq!((&episodes[sibling].end, episodes[sibling].answer()), (&End::Answered, Some("3")));
    }
    let End::Failed { fault } = &episodes[1].end else { panic!("{:?}", episodes[1].end) };
    assert_eq!(fault.boundary, Boundary::Model);
    assert!(fault.message.contains("cannot be reached (2 tries)"), "{}", fault.message);
    assert_eq!(Outcome::of(&episodes[1], None), Outcome::InfrastructureFailed);
}

/// The answer of `sampler` to one request.
fn sample(
    sampler: &mut dyn Sampler,
    context: Vec<TokenId>,
    params: SamplingParams,
) -> Result<merit_model::Completion, SamplerError> {
    let (sender, results) = channel();
    let sink = CompletionSink::new(move |result| drop(sender.send(result)));
    sampler.submit(SampleRequest {
        session: SessionId(7),
        context,
        params: Arc::new(params),
        seed: Seed::root(5),
    });
    assert_eq!(sampler.pump(&sink), Pump::Idle);
    results.recv_timeout(Duration::from_secs(10)).unwrap().result
}

fn context(chat: &ChatFormat) -> Vec<TokenId> {
    let segments = chat.observe(&[], &[Message::new(Role::User, "hello")], 0, true);
    segments.into_iter().flat_map(|segment| segment.tokens).collect()
}

fn stops(chat: &ChatFormat) -> SamplingParams {
    SamplingParams { stop: vec!["\n".into()], stop_tokens: vec![chat.end()], ..SamplingParams::default() }
}

/// What comes of these tokens from a server; `read` is what it says it read.
fn told(
    tokens: Vec<TokenId>,
    read: Option<Vec<TokenId>>,
    finish: &'static str,
    more: impl Fn(&mut OpenAiSettings),
) -> Result<merit_model::Completion, SamplerError> {
    let server = ScriptedServer::start(move |_| {
        let scores: Vec<Value> = tokens.iter().map(|_| json!({ "token": "?", "logprob": -0.5 })).collect();
        let choice = json!({ "text": "?", "message": { "content": "?" }, "finish_reason": finish, "token_ids": tokens,
                             "logprobs": { "content": scores } });
        Reply::json(200, &json!({ "choices": [choice], "prompt_token_ids": read }))
    })
    .unwrap();
    let mut settings = from_server(&server);
    more(&mut settings);
    let chat = chat();
    let mut sampler = OpenAiSampler::open(&settings, &chat, Seed::root(1)).unwrap();
    sample(&mut sampler, context(&chat), stops(&chat))
}

#[test]
fn a_turn_of_a_server_ends_behind_the_token_that_ends_it() {
    let chat = chat();
    let line = chat.say("answer 3\n", &["\n".into()]).tokens;
    let babble = [line.clone(), chat.say("more", &[]).tokens].concat();
    let said = told(babble, None, "length", |_| {}).unwrap();
    assert_eq!(
        (said.tokens, said.logprobs.len(), said.stop),
        (line.clone(), line.len(), StopReason::StopString)
    );
    let ended = chat.say("answer 3", &[]).tokens;
    let past = [ended.clone(), ended.clone()].concat();
    let said = told(past, None, "stop", |_| {}).unwrap();
    assert_eq!((said.tokens, said.stop), (ended.clone(), StopReason::StopToken));
    let cut = chat.say("answer 31415926535", &[]).tokens[..2].to_vec();
    let said = told(cut.clone(), None, "length", |_| {}).unwrap();
    assert_eq!((said.tokens, said.stop), (cut.clone(), StopReason::MaxTokens));
    let error = told(cut, None, "stop", |_| {}).unwrap_err().to_string();
    assert!(error.contains("left out the token that ends the turn"), "{error}");
}

#[test]
fn log_probabilities_of_another_context_or_temperature_are_refused() {
    let chat = chat();
    let ended = chat.say("answer 3", &[]).tokens;
    let as_messages = |settings: &mut OpenAiSettings| settings.prompt = Some(PromptForm::Messages);
    assert!(told(ended.clone(), Some(context(&chat)), "stop", as_messages).is_ok());
    let error = told(ended.clone(), None, "stop", as_messages).unwrap_err().to_string();
    assert!(error.contains("does not tell which tokens it read"), "{error}");
    let mut other = context(&chat);
    other.insert(1, TokenId(1));
    let error = told(ended.clone(), Some(other), "stop", |_| {}).unwrap_err().to_string();
    assert!(error.contains("different from place 1 on"), "{error}");
    let error = told(vec![TokenId(99_999)], None, "stop", |_| {}).unwrap_err();
    assert!(matches!(error, SamplerError::UnknownToken { token: 99_999, .. }), "{error:?}");

    let server = ScriptedServer::start(|_| Reply::default()).unwrap();
    let refused = |kind, temperature, top_p| {
        let settings = OpenAiSettings { logprobs: kind, ..from_server(&server) };
        let mut sampler = OpenAiSampler::open(&settings, &chat, Seed::root(1)).unwrap();
        let params = SamplingParams { temperature, top_p, ..stops(&chat) };
        matches!(sample(&mut sampler, context(&chat), params), Err(SamplerError::Params(_)))
    };
    assert!(refused(None, 0.7, 1.0));
    assert!(!refused(None, 1.0, 0.9));
    assert!(!refused(Some(LogprobKind::Tempered), 0.7, 0.9));
    assert!(refused(Some(LogprobKind::Processed), 0.7, 0.9));
    assert!(!refused(Some(LogprobKind::Processed), 0.7, 1.0));
    let banning = SamplingParams { banned: vec![TokenId(1)], ..stops(&chat) };
    let mut sampler = OpenAiSampler::open(&from_server(&server), &chat, Seed::root(1)).unwrap();
    let error = sample(&mut sampler, context(&chat), banning).unwrap_err().to_string();
    assert!(error.contains("no biases, bans or constraints"), "{error}");
}

#[test]
fn cuts_are_sent_and_alternatives_told_by_their_ids() {
    let chat = chat();
    let end = chat.end();
    let server = ScriptedServer::start(move |_| {
        let top = |ids: &[u32]| -> Vec<Value> {
            ids.iter().map(|id| json!({ "token": format!("token_id:{id}"), "logprob": -(*id as f32) })).collect()
        };
        let score = json!({ "token": "?", "logprob": -0.5, "top_logprobs": top(&[3, 1, 2]) });
        let choice = json!({ "text": "", "finish_reason": "stop", "token_ids": [end], "logprobs": { "content": [score] } });
        Reply::json(200, &json!({ "choices": [choice] }))
    })
    .unwrap();
    let mut sampler = OpenAiSampler::open(&from_server(&server), &chat, Seed::root(1)).unwrap();
    let params = SamplingParams { top_k: 40, min_p: 0.05, top_logprobs: 2, ..stops(&chat) };
    let said = sample(&mut sampler, context(&chat), params.clone()).unwrap();
    let ids: Vec<u32> = said.top_logprobs[0].iter().map(|other| other.token.0).collect();
    assert_eq!((ids, said.top_logprobs.len()), (vec![1, 2], 1));
    let body = &server.asked()[0].body;
    assert_eq!((&body["top_k"], &body["min_p"], &body["logprobs"]), (&json!(40), &json!(0.05), &json!(2)));
    let error = sample(&mut sampler, context(&chat), SamplingParams { top_logprobs: 4, ..params.clone() })
        .unwrap_err();
    assert!(error.to_string().contains("fewer alternatives"), "{error}");
    let mut texts = OpenAiSampler::open(&settings(&server), &chat, Seed::root(1)).unwrap();
    let error = sample(&mut texts, context(&chat), params).unwrap_err();
    assert!(matches!(error, SamplerError::Params(_)), "{error:?}");
    let ranked = SamplingParams { top_k: 40, ..stops(&chat) };
    let error = sample(&mut texts, context(&chat), ranked).unwrap_err();
    assert!(error.to_string().contains("knows neither `top_k`"), "{error}");
}

#[test]
fn text_that_the_server_cut_has_no_end_and_text_that_ended_by_itself_is_never_cut() {
    let chat = chat();
    let whole = chat.say("answer 31415926535", &[]).tokens;
    let answered = |finish: &'static str, max_tokens: usize, context_limit: Option<usize>| {
        let message = json!({ "content": "answer 31415926535" });
        let reply = json!({ "choices": [{ "message": message, "finish_reason": finish }] });
        let server = ScriptedServer::start(move |_| Reply::json(200, &reply)).unwrap();
        let settings = OpenAiSettings { context_limit, ..settings(&server) };
        let mut sampler = OpenAiSampler::open(&settings, &chat, Seed::root(1)).unwrap();
        sample(&mut sampler, context(&chat), SamplingParams { max_tokens, ..stops(&chat) })
    };
    let brief = |said: merit_model::Completion| (said.tokens.len(), said.logprobs.len(), said.stop);
    let n = whole.len();
    assert_eq!(answered("stop", 100, None).map(brief), Ok((n, 0, StopReason::StopToken)));
    assert_eq!(answered("length", 100, None).map(brief), Ok((n - 1, 0, StopReason::MaxTokens)));
    // The limits are in the server's tokens, which are longer than ours.
    assert_eq!(answered("stop", 2, None).map(brief), Ok((n, 0, StopReason::StopToken)));
    let limit = context(&chat).len() + 1;
    assert_eq!(answered("stop", 100, Some(limit)).map(brief), Ok((n, 0, StopReason::StopToken)));
    for (finish, says) in [("content_filter", "filter"), ("tool_calls", "tool parser"), ("odd", "`odd`")] {
        let error = answered(finish, 100, None).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn tokens_are_counted_by_whoever_drew_them() {
    let chat = chat();
    let counted = |usage: Option<Value>| {
        let mut reply =
            json!({ "choices": [{ "message": { "content": "answer 3" }, "finish_reason": "stop" }] });
        if let Some(usage) = usage {
            reply["usage"] = usage;
        }
        let server = ScriptedServer::start(move |_| Reply::json(200, &reply)).unwrap();
        let mut sampler = OpenAiSampler::open(&settings(&server), &chat, Seed::root(1)).unwrap();
        sample(&mut sampler, context(&chat), stops(&chat)).unwrap().counted
    };
    assert_eq!(counted(Some(json!({ "prompt_tokens": 9, "completion_tokens": 2 }))), Counted::Server(2));
    assert_eq!(counted(None), Counted::Nobody);
}

#[test]
fn closing_a_session_cancels_its_request_and_a_second_request_is_refused() {
    let server = ScriptedServer::start(|_| Reply::default().then_hang()).unwrap();
    let chat = chat();
    let mut sampler = OpenAiSampler::open(&settings(&server), &chat, Seed::root(1)).unwrap();
    let (sender, results) = channel();
    let sink = CompletionSink::new(move |result| drop(sender.send(result)));
    let request = SampleRequest {
        session: SessionId(1),
        context: context(&chat),
        params: Arc::new(stops(&chat)),
        seed: Seed::root(1),
    };
    sampler.submit(request.clone());
    sampler.pump(&sink);
    sampler.submit(request);
    sampler.pump(&sink);
    assert_eq!(results.recv_timeout(Duration::from_secs(5)).unwrap().result, Err(SamplerError::Busy));
    let begun = Instant::now();
    while server.asked().is_empty() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(sampler.waiting().contains("1 requests, 1 of them at the server"), "{}", sampler.waiting());
    sampler.close(SessionId(1));
    while server.left_early() == 0 && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(server.left_early(), 1, "the server sees us leave");
    assert!(results.try_recv().is_err(), "and nobody hears of it");
}

#[test]
fn settings_that_cannot_work_or_do_nothing_are_refused() {
    let server = ScriptedServer::start(|_| Reply::default()).unwrap();
    let plain = settings(&server);
    let llama = EndpointConfig { server: Server::LlamaCpp, ..plain.endpoint.clone() };
    let cases = [
        (OpenAiSettings { tokens: TokenSource::Server, ..plain.clone() }, "tells token ids"),
        (
            OpenAiSettings {
                endpoint: llama,
                tokens: TokenSource::Server,
                prompt: Some(PromptForm::Messages),
                ..plain.clone()
            },
            "which tokens it read",
        ),
        (OpenAiSettings { logprobs: Some(LogprobKind::Raw), ..plain.clone() }, "`logprobs` does nothing"),
        (OpenAiSettings { context_limit: Some(0), ..plain.clone() }, "`context_limit` is 0"),
    ];
    for (settings, says) in cases {
        let error = settings.validate().unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let read = |name: &str| {
        serde_json::from_value::<OpenAiSettings>(json!({ "endpoint": plain.endpoint, name: "text" }))
    };
    assert_eq!(read("tokens").ok(), Some(plain.clone()));
    assert!(read("token").unwrap_err().to_string().contains("unknown field `token`"));
}
