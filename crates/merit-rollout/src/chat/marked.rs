//! The layout of a tokenizer trained on the spot: a marker for each role, `<|end|>` after each message.

use super::{ChatFormat, MissingMarker, observation, put_last};
use merit_core::{Message, Role, Segment, TokenId};
use merit_model::Tokenizer;

/// The markers, by role.
#[derive(Clone)]
pub(super) struct Marked {
    markers: [TokenId; Role::ALL.len()],
    /// The least and the greatest of them.
    bounds: [TokenId; 2],
}

impl Marked {
    /// The markers of a tokenizer, and its end token.
    pub(super) fn new(tokenizer: &Tokenizer) -> Result<(Self, TokenId), MissingMarker> {
        let special = |name: &str| tokenizer.special(name).ok_or_else(|| MissingMarker(name.to_owned()));
        let end = special("<|end|>")?;
        let mut markers = [end; Role::ALL.len()];
        for (marker, role) in markers.iter_mut().zip(Role::ALL) {
            *marker = special(&format!("<|{}|>", role.name()))?;
        }
        let bounds = markers
            .iter()
            .fold([markers[0]; 2], |[least, most], &marker| [least.min(marker), most.max(marker)]);
        Ok((Self { markers, bounds }, end))
    }

    pub(super) fn marker(&self, role: Role) -> TokenId {
        self.markers[role as usize]
    }

    pub(super) fn observe(
        &self,
        chat: &ChatFormat,
        messages: &[Message],
        turn: u32,
        hand_over: bool,
    ) -> Vec<Segment> {
        let mut segments: Vec<Segment> =
            messages.iter().map(|message| self.segment(chat, message, turn)).collect();
        if hand_over {
            put_last(&mut segments, turn, [self.marker(Role::Policy)]);
        }
        segments
    }

    fn segment(&self, chat: &ChatFormat, message: &Message, turn: u32) -> Segment {
        let mut tokens = vec![self.marker(message.role)];
        tokens.extend(chat.tokenizer().encode(&message.text));
        tokens.push(chat.end());
        observation(message.role, turn, tokens, message.text.clone())
    }

    pub(super) fn read(&self, chat: &ChatFormat, context: &[TokenId]) -> Vec<Message> {
        let mut messages = Vec::new();
        let mut rest = context;
        while let Some((role, body)) = self.next_message(&mut rest) {
            let handed_over = role == Role::Policy && body.is_empty() && rest.is_empty();
            if !handed_over {
                messages.push(Message::new(role, chat.tokenizer().decode(chat.without_end(body))));
            }
        }
        messages
    }

    fn next_message<'a>(&self, rest: &mut &'a [TokenId]) -> Option<(Role, &'a [TokenId])> {
        let (first, tail) = rest.split_first()?;
        let role = self.role_of(*first)?;
        // Whole conversations are read anew in every turn, and nearly all tokens are text.
        let [least, most] = self.bounds;
        let is_marker = |&token: &TokenId| token >= least && token <= most && self.role_of(token).is_some();
        let len = tail.iter().position(is_marker).unwrap_or(tail.len());
        let (body, after) = tail.split_at(len);
        *rest = after;
        Some((role, body))
    }

    fn role_of(&self, token: TokenId) -> Option<Role> {
        self.markers.iter().position(|&marker| marker == token).map(|at| Role::ALL[at])
    }
}
