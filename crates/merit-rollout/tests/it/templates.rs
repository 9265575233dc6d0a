//! Real models by their own templates: appended tokens say what the template renders, and can be read back.

#[allow(dead_code, reason = "the tests of merit-text use the rest")]
#[path = "../../../merit-text/tests/it/support/mod.rs"]
pub(crate) mod support;

use crate::common::plan;
use crate::common::run::{lines, run_with};
use merit_core::{End, Message, Role, TokenId};
use merit_rollout::{ChatFormat, ChatFormatError, RolloutSettings, ScriptedSampler, ToolRuntime};
use merit_text::{
    ChatFrames, ChatMessage, ChatTemplate, Place, SpecialTokens, TemplateContext, TemplateRole,
};
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};
use support::{CHATML, GEMMA, INSTRUCT, LLAMA3, QWEN_TOOLS, byte_level, real, sentence_piece, template};

struct Kind {
    source: &'static str,
    chat: ChatFormat,
    frames: ChatFrames,
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let tokenizers =
        [byte_level("smollm"), byte_level("llama-bpe"), sentence_piece(false), sentence_piece(true)];
    let tokenizers = tokenizers.map(|vocabulary| Arc::new(real(&vocabulary)));
    let mut kinds = Vec::new();
    for source in [CHATML, QWEN_TOOLS, LLAMA3, GEMMA, INSTRUCT] {
        let frames = ChatFrames::derive(&template(source), &TemplateContext::default()).unwrap();
        for tokenizer in &tokenizers {
            let ends = ["<|endoftext|>".to_owned()];
            let chat = ChatFormat::from_template(
                Arc::clone(tokenizer),
                &template(source),
                &TemplateContext::default(),
                &ends,
            );
            kinds.push(Kind { source, chat: chat.unwrap(), frames: frames.clone() });
        }
    }
    kinds
});

fn observed() -> impl Strategy<Value = Vec<Message>> {
    let roles = vec![Role::System, Role::User, Role::Tool, Role::Environment, Role::Hint];
    let text =
        prop_oneof![Just(String::new()), Just("<|im_end|>\n<end_of_turn>".to_owned()), any::<String>()];
    // `▁` is a space to some tokenizers.
    let message = (proptest::sample::select(roles), text)
        .prop_map(|(role, text)| Message::new(role, text.replace('▁', "_")));
    proptest::collection::vec(message, 0..4)
}

/// How the policy's turn ended: the template's own end, another end, or a stop string.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ended {
    Own,
    Other,
    Not,
}

fn template_role(role: Role) -> TemplateRole {
    match role {
        Role::System => TemplateRole::System,
        Role::Policy => TemplateRole::Assistant,
        Role::Tool => TemplateRole::Tool,
        Role::User | Role::Environment | Role::Hint => TemplateRole::User,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn tokens_appended_turn_by_turn_say_what_the_template_renders_whole(
        turns in proptest::collection::vec(
            (observed(), "[a-z<|]{1,4}( [a-z0-9é]{1,4}){0,2}", proptest::sample::select(vec![Ended::Own, Ended::Not])), 1..4),
        last in observed(),
    ) {
        for Kind { source, chat, frames } in KINDS.iter() {
            let mut context: Vec<TokenId> = Vec::new();
            let mut whole: Vec<ChatMessage> = Vec::new();
            let all = turns.iter().map(|(seen, said, ended)| (seen, Some((said, *ended)))).chain([(&last, None)]);
            for (turn, (seen, said)) in all.enumerate() {
                let place = if turn == 0 { Place::Start } else { Place::After(TemplateRole::Assistant) };
                let texts: Vec<_> = seen.iter().map(|m| (template_role(m.role), m.text.as_str())).collect();
                whole.extend(frames.lay_out(place, &texts, true).messages());
                let segments = chat.observe(&context, seen, turn as u32, true);
                prop_assert_eq!(segments.len(), seen.len().max(1));
                let shown: Vec<_> = segments.iter().map(|s| (s.role, s.text.clone())).collect();
                if !seen.is_empty() {
                    prop_assert_eq!(shown, seen.iter().map(|m| (m.role, m.text.clone())).collect::<Vec<_>>());
                }
                context.extend(segments.into_iter().flat_map(|segment| segment.tokens));
                if let Some((said, ended)) = said {
                    let tokens = chat.say(said, &[]).tokens;
                    let sampled = if ended == Ended::Own { &tokens[..] } else { &tokens[..tokens.len() - 1] };
                    prop_assert_eq!(&chat.spoken(sampled, &[]), said);
                    context.extend(sampled);
                    whole.push(ChatMessage::new("assistant", said.clone()));
                }
            }
            for message in &mut whole {
                let role = TemplateRole::ALL.into_iter().find(|role| role.name() == message.role).unwrap();
                message.content = frames.content(role).read(&message.content);
            }
            let rendered = template(source).render(&whole, &TemplateContext::default(), true).unwrap();
            prop_assert_eq!(chat.tokenizer().decode_with_specials(&context), rendered);
            let spoken: Vec<String> =
                chat.read(&context).into_iter().filter(|m| m.role == Role::Policy).map(|m| m.text).collect();
            prop_assert_eq!(spoken, turns.iter().map(|(_, said, _)| said.clone()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_conversation_is_read_back_message_by_message_where_the_template_keeps_them_apart(
        opening in observed(),
        said in "[a-z]{1,4}( [a-z]{1,4}){0,2}",
        ended in proptest::sample::select(vec![Ended::Own, Ended::Other, Ended::Not]),
        answer in observed(),
    ) {
        let kind = &KINDS[0];
        let chat = &kind.chat;
        let mut context: Vec<TokenId> = Vec::new();
        context.extend(chat.observe(&[], &opening, 0, true).into_iter().flat_map(|s| s.tokens));
        context.extend(chat.tokenizer().encode(&said));
        match ended {
            Ended::Own => context.push(chat.end()),
            Ended::Other => context.push(chat.tokenizer().special("<|endoftext|>").unwrap()),
            Ended::Not => {}
        }
        context.extend(chat.observe(&context.clone(), &answer, 0, true).into_iter().flat_map(|s| s.tokens));
        let read = chat.read(&context);
        let at = read.iter().position(|message| message.role == Role::Policy).unwrap();
        prop_assert_eq!(&read[at].text, &said);
        let as_template = |message: &Message| {
            let role = match message.role {
                Role::System | Role::Tool => message.role,
                _ => Role::User,
            };
            Message::new(role, message.text.clone())
        };
        prop_assert_eq!(read[at + 1..].to_vec(), answer.iter().map(as_template).collect::<Vec<_>>());
    }
}

#[test]
fn a_turn_is_closed_by_the_policy_or_by_the_next_observation_but_not_by_both() {
    let chat = &KINDS[0].chat;
    let tokenizer = chat.tokenizer();
    let opening: Vec<TokenId> = chat
        .observe(&[], &[Message::new(Role::User, "hi")], 0, true)
        .into_iter()
        .flat_map(|s| s.tokens)
        .collect();
    let seen = [Message::new(Role::Tool, "3")];
    let after = |said: &[TokenId]| {
        let context = [&opening[..], said].concat();
        tokenizer.decode_with_specials(&chat.observe(&context, &seen, 0, true)[0].tokens)
    };
    let said = tokenizer.encode("call");
    let rest = "\n<|im_start|>tool\n3<|im_end|>\n<|im_start|>assistant\n";
    assert_eq!(after(&said), format!("<|im_end|>{rest}"));
    assert_eq!(after(&[&said[..], &[chat.end()]].concat()), rest);
    let other = tokenizer.special("<|endoftext|>").unwrap();
    assert_eq!(after(&[&said[..], &[other]].concat()), rest, "another end stands in its place");
    assert_eq!(chat.ends(), [chat.end(), other]);
    let closed = chat.observe(&opening, &seen, 0, false);
    assert_eq!(
        tokenizer.decode_with_specials(&closed[0].tokens),
        "<|im_end|>\n<|im_start|>tool\n3<|im_end|>\n"
    );
    assert!(chat.observe(&opening, &[], 0, false).is_empty());
}

#[test]
fn episodes_run_by_a_real_models_template() {
    for kind in KINDS.iter() {
        let mut sampler = ScriptedSampler::new(&kind.chat, lines(&["call add 1 2\n", "answer 3"]));
        let tools = ToolRuntime::new().unwrap();
        let settings = RolloutSettings::default();
        let episodes = run_with(vec![plan(0)], &mut sampler, &kind.chat, &settings, &tools, &mut |_| {});
        let episode = &episodes[0];
        assert_eq!((&episode.end, episode.answer()), (&End::Answered, Some("3")));
        let roles: Vec<Role> = episode.transcript.segments().iter().map(|s| s.role).collect();
        assert_eq!(roles, [Role::System, Role::User, Role::Policy, Role::Tool, Role::Policy]);
        let said = &episode.transcript.segments()[2].tokens;
        assert_eq!(*said, kind.chat.tokenizer().encode("call add 1 2\n"), "exactly what was sampled");
    }
}

#[test]
fn a_template_that_cannot_be_used_is_refused_with_the_reason() {
    let tokenizer = Arc::new(real(&byte_level("smollm")));
    let make = |source: &str, ends: &[&str]| {
        let template = ChatTemplate::parse(source, SpecialTokens::default()).unwrap();
        let ends: Vec<String> = ends.iter().map(|name| (*name).to_owned()).collect();
        ChatFormat::from_template(Arc::clone(&tokenizer), &template, &TemplateContext::default(), &ends)
            .err()
            .unwrap()
    };
    let plain = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}\
                 {% if add_generation_prompt %}assistant: {% endif %}";
    assert!(matches!(make(plain, &[]), ChatFormatError::NoEnd { close } if close == "\nuser: "));
    assert_eq!(make(CHATML, &["<|nothing|>"]), ChatFormatError::UnknownEnd("<|nothing|>".to_owned()));
    assert!(matches!(make("{{ messages[-1].content }}", &[]), ChatFormatError::Frames(_)));
}
