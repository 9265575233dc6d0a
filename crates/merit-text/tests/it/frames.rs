//! Templates cut into pieces: what is appended is what is rendered, and what cannot be appended is refused.

use crate::support::{CHATML, GEMMA, INSTRUCT, LLAMA3, QWEN_TOOLS, template};
use merit_text::{
    ChatFrames, ChatTemplate, FramesError, Place, SpecialTokens, TemplateContext, TemplateRole,
};
use proptest::prelude::*;

const ALL: [&str; 5] = [CHATML, QWEN_TOOLS, LLAMA3, GEMMA, INSTRUCT];

fn frames(source: &str) -> ChatFrames {
    ChatFrames::derive(&template(source), &TemplateContext::default()).unwrap()
}

fn all_frames() -> &'static [(&'static str, ChatFrames)] {
    static FRAMES: std::sync::LazyLock<Vec<(&str, ChatFrames)>> =
        std::sync::LazyLock::new(|| ALL.iter().map(|&source| (source, frames(source))).collect());
    &FRAMES
}

fn observed() -> impl Strategy<Value = Vec<(TemplateRole, String)>> {
    let roles = vec![TemplateRole::System, TemplateRole::User, TemplateRole::Tool];
    let texts = prop_oneof![
        Just(String::new()),
        Just("  \n".to_owned()),
        any::<String>(),
        "[ \n]{0,2}[a-z\"\\\\]{0,4}[ \n]{0,2}"
    ];
    proptest::collection::vec((proptest::sample::select(roles), texts), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_appended_turn_by_turn_is_what_is_rendered_whole(
        turns in proptest::collection::vec((observed(), "[a-zé{<]{1,8}"), 1..4),
        last in observed(),
    ) {
        for (source, frames) in all_frames() {
            let (mut text, mut messages, mut place) = (String::new(), Vec::new(), Place::Start);
            let all = turns.iter().map(|(seen, said)| (seen, Some(said))).chain([(&last, None)]);
            for (seen, said) in all {
                let seen: Vec<(TemplateRole, &str)> = seen.iter().map(|(role, text)| (*role, text.as_str())).collect();
                let layout = frames.lay_out(place, &seen, true);
                for frame in &layout.frames {
                    text += &frame.lead;
                    text += &frame.content;
                }
                text += &layout.tail;
                messages.extend(layout.messages());
                if let Some(said) = said {
                    text += said;
                    messages.push(merit_text::ChatMessage::new("assistant", said.clone()));
                    place = Place::After(TemplateRole::Assistant);
                }
            }
            // A JSON answer is shown escaped; the template is asked with what was said.
            for message in &mut messages {
                let role = TemplateRole::ALL.into_iter().find(|role| role.name() == message.role).unwrap();
                message.content = frames.content(role).read(&message.content);
            }
            let rendered = template(source).render(&messages, &TemplateContext::default(), true).unwrap();
            prop_assert_eq!(&text, &rendered);
        }
    }
}

#[test]
fn frames_are_what_the_template_writes_between_messages() {
    let chatml = frames(CHATML);
    assert_eq!(chatml.gap(Place::Start, TemplateRole::System), Some("<|im_start|>system\n"));
    let opening = "<|im_start|>system\nYou answer test questions.<|im_end|>\n<|im_start|>user\n";
    assert_eq!(chatml.gap(Place::Start, TemplateRole::User), Some(opening));
    let after = Place::After(TemplateRole::Assistant);
    assert_eq!(chatml.gap(after, TemplateRole::User), Some("<|im_end|>\n<|im_start|>user\n"));
    assert_eq!(chatml.close(TemplateRole::User), Some("<|im_end|>\n"));
    let qwen = frames(QWEN_TOOLS);
    let between = "\n</tool_response>\n<tool_response>\n";
    assert_eq!(qwen.gap(Place::After(TemplateRole::Tool), TemplateRole::Tool), Some(between));
}

#[test]
fn answers_of_tools_that_are_shown_as_json_are_escaped() {
    let llama = frames(LLAMA3);
    assert!(llama.content(TemplateRole::Tool).is_json() && llama.content(TemplateRole::User).trims());
    let layout =
        llama.lay_out(Place::After(TemplateRole::Assistant), &[(TemplateRole::Tool, "say \"3\"\n")], true);
    assert!(layout.frames[0].lead.ends_with("ipython<|end_header_id|>\n\n\""), "{layout:?}");
    assert_eq!(layout.frames[0].content, r#"say \"3\"\n"#);
}

#[test]
fn a_template_that_alternates_takes_neighbours_as_one_message() {
    let gemma = frames(GEMMA);
    let said = [(TemplateRole::System, "s"), (TemplateRole::User, "u "), (TemplateRole::Tool, " t")];
    let layout = gemma.lay_out(Place::Start, &said, true);
    let text: String = layout.frames.iter().map(|frame| frame.lead.clone() + &frame.content).collect();
    assert_eq!(text, "<bos><start_of_turn>user\ns\n\nu\n\nt");
    assert_eq!(layout.tail, "<end_of_turn>\n<start_of_turn>model\n");
    let silent = gemma.lay_out(Place::After(TemplateRole::Assistant), &[], true);
    assert_eq!(silent.frames.len(), 1, "an empty message of the user stands between two of the assistant");
}

#[test]
fn a_template_that_changes_what_was_said_is_refused_and_says_where() {
    let derive = |source: &str| {
        let template = ChatTemplate::parse(source, SpecialTokens::default()).unwrap();
        ChatFrames::derive(&template, &TemplateContext::default()).unwrap_err()
    };
    // The number of messages stands in front.
    let counting = "{{ messages | length }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}\
                    {% if add_generation_prompt %}<assistant>{% endif %}";
    let error = derive(counting);
    assert!(
        matches!(&error, FramesError::NotAppendOnly { conversation, .. } if conversation == "[user, assistant, user]"),
        "{error}"
    );
    // Only the last two messages are shown.
    let forgetful = "{% for m in messages[-2:] %}<{{ m.role }}>{{ m.content }}{% endfor %}";
    assert!(derive(forgetful).to_string().contains("message 1 is left out"), "{}", derive(forgetful));
    // What hands over is not what stands before the assistant's own words.
    let thinking = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}\
                    {% if add_generation_prompt %}<assistant><think>{% endif %}";
    assert!(matches!(derive(thinking), FramesError::NotAppendOnly { .. }));
    let shouting = "{% for m in messages %}<{{ m.role }}>{{ m.content | upper }}{% endfor %}";
    assert!(matches!(derive(shouting), FramesError::Unusable { .. }));
}
