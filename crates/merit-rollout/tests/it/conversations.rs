//! Whole conversations that somebody else wrote: the tokens say what the template renders, and only the assistant is learned.

use crate::templates::support::{CHATML, GEMMA, LLAMA3, QWEN_TOOLS, byte_level, real, template};
use merit_rollout::{ChatFormat, LaidOut, LayOutError};
use merit_text::{CalledFunction, ChatMessage, ChatTool, TemplateContext, Tokenizer};
use serde_json::json;
use std::sync::Arc;

fn tokenizer() -> Arc<Tokenizer> {
    Arc::new(real(&byte_level("smollm")))
}

fn chat(source: &str) -> ChatFormat {
    let ends = ["<|endoftext|>".to_owned()];
    ChatFormat::from_template(tokenizer(), &template(source), &TemplateContext::default(), &ends).unwrap()
}

fn conversation(texts: &[(&str, &str)]) -> Vec<ChatMessage> {
    texts.iter().map(|(role, text)| ChatMessage::new(*role, *text)).collect()
}

fn tools() -> Vec<ChatTool> {
    let parameters = json!({"type": "object", "properties": {"x": {"type": "number"}}});
    vec![ChatTool { name: "double".into(), description: "Doubles.".into(), parameters }]
}

/// A question, a call, its answer, and what is said to it.
fn called() -> Vec<ChatMessage> {
    let mut messages =
        conversation(&[("user", "twice 4?"), ("assistant", ""), ("tool", "8"), ("assistant", "It is 8.")]);
    let arguments = json!({"x": 4});
    messages[1].tool_calls = vec![CalledFunction { id: None, name: "double".into(), arguments }];
    messages
}

/// The text of the tokens that are learned, and of all.
fn texts(chat: &ChatFormat, laid: &LaidOut) -> (String, String) {
    let learned: Vec<_> = laid.tokens.iter().zip(&laid.mask).filter(|(_, m)| **m).map(|(t, _)| *t).collect();
    let text = |tokens: &[_]| chat.tokenizer().decode_with_specials(tokens);
    (text(&learned), text(&laid.tokens))
}

#[test]
fn the_tokens_are_the_templates_and_the_assistants_are_learned() {
    let said = [("user", "one?"), ("assistant", "1"), ("user", "two?"), ("assistant", "2 2")];
    for (source, end) in
        [(CHATML, "<|im_end|>"), (QWEN_TOOLS, "<|im_end|>"), (LLAMA3, "<|eot_id|>"), (GEMMA, "<end_of_turn>")]
    {
        let (chat, messages) = (chat(source), conversation(&said));
        let (learned, all) = texts(&chat, &chat.lay_out(&messages, &[], 0).unwrap());
        assert_eq!(learned, format!("1{end}2 2{end}"), "{source}");
        let rendered = template(source).render(&messages, &TemplateContext::default(), false).unwrap();
        assert!(rendered.starts_with(&all), "{all:?} {rendered:?}");
        let (later, _) = texts(&chat, &chat.lay_out(&messages, &[], 2).unwrap());
        assert_eq!(later, format!("2 2{end}"), "{source}");
    }
}

#[test]
fn tools_and_calls_are_as_the_template_writes_them() {
    let (chat, messages) = (chat(QWEN_TOOLS), called());
    let (learned, all) = texts(&chat, &chat.lay_out(&messages, &tools(), 0).unwrap());
    let setting = TemplateContext { tools: tools(), ..TemplateContext::default() };
    let rendered = template(QWEN_TOOLS).render(&messages, &setting, false).unwrap();
    assert!(rendered.starts_with(&all) && all.contains("Doubles."), "{all:?}");
    assert!(
        learned.contains("\"double\"") && learned.ends_with("<|im_end|>It is 8.<|im_end|>"),
        "{learned:?}"
    );
    assert!(!learned.contains("twice") && !learned.contains("tool_response"), "{learned:?}");
}

#[test]
fn what_would_teach_something_else_is_refused() {
    let mut messages = called();
    messages[2].content = "8<|im_end|>".into();
    let refused = chat(QWEN_TOOLS).lay_out(&messages, &tools(), 0).unwrap_err();
    assert_eq!(refused, LayOutError::Special { message: 3, token: "<|im_end|>".into() });
    // Without calls nothing has to be refused: text never makes a special token.
    let ends = |texts: &[(&str, &str)]| {
        let chat = chat(CHATML);
        let laid = chat.lay_out(&conversation(texts), &[], 0).unwrap();
        laid.tokens.iter().filter(|token| chat.ends().contains(token)).count()
    };
    let plain = ends(&[("user", "x"), ("assistant", "ab")]);
    assert_eq!(ends(&[("user", "<|im_end|>"), ("assistant", "a<|im_end|>b")]), plain);
    let counting = format!("{{% if tools %}}{{{{ messages | length }}}}{{% endif %}}{CHATML}");
    let refused = chat(&counting).lay_out(&called(), &tools(), 0).unwrap_err();
    assert_eq!(refused, LayOutError::Rewritten { message: 2 });
    let odd = conversation(&[("critic", "?"), ("assistant", "!")]);
    assert!(matches!(chat(CHATML).lay_out(&odd, &[], 0), Err(LayOutError::Role { message: 1, .. })));
}

#[test]
fn a_tokenizer_of_our_own_lays_conversations_out_and_refuses_calls() {
    let trained = Arc::new(Tokenizer::train(["one? 1 two? 2"].into_iter(), 300));
    let chat = ChatFormat::new(trained).unwrap();
    let messages = conversation(&[("user", "one?"), ("assistant", "1")]);
    let laid = chat.lay_out(&messages, &[], 0).unwrap();
    assert_eq!(texts(&chat, &laid).0, "1<|end|>");
    assert_eq!(laid.tokens.len(), laid.mask.len());
    assert_eq!(chat.lay_out(&messages, &tools(), 0), Err(LayOutError::NoTemplate));
}
