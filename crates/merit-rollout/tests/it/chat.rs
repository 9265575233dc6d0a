//! What is laid out in tokens can be read back, whatever the text.

use crate::common::chat;
use merit_core::{Message, Role};
use proptest::prelude::*;

fn observer() -> impl Strategy<Value = Message> {
    let roles = [Role::System, Role::User, Role::Tool, Role::Environment, Role::Hint];
    let markers = prop_oneof![Just(String::new()), Just("<|end|>".to_owned()), Just("<|policy|>".to_owned())];
    (proptest::sample::select(roles.to_vec()), any::<String>(), markers)
        .prop_map(|(role, text, marker)| Message::new(role, text + &marker))
}

proptest! {
    #[test]
    fn a_conversation_is_read_back_as_it_was_written(
        opening in proptest::collection::vec(observer(), 1..4),
        said in any::<String>(),
        answer in observer(),
    ) {
        let chat = chat();
        let stops = ["\n".to_owned()];
        let mut context: Vec<_> = chat.observe(&[], &opening, 0, true).into_iter().flat_map(|s| s.tokens).collect();
        let turn = chat.say(&said, &stops).tokens;
        context.extend(&turn);
        let observed = chat.observe(&context, std::slice::from_ref(&answer), 0, true);
        context.extend(observed.into_iter().flat_map(|s| s.tokens));
        let spoken = chat.spoken(&turn, &stops);
        prop_assert_eq!(&spoken, said.split_inclusive('\n').next().unwrap_or(""));
        let mut expected = opening;
        expected.push(Message::new(Role::Policy, spoken));
        expected.push(answer);
        prop_assert_eq!(chat.read(&context), expected);
    }
}

#[test]
fn what_follows_the_first_stop_string_is_not_acted_on() {
    let chat = chat();
    let tokens = chat.tokenizer().encode("answer 3\nanswer 4");
    assert_eq!(chat.spoken(&tokens, &["\n".to_owned()]), "answer 3\n");
    assert_eq!(chat.shown(&tokens), "answer 3\nanswer 4", "but it is shown");
}
