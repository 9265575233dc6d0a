//! Messages to tokens, exactly once, and the layout of a conversation in tokens.
//!
//! A message is its role's marker, its encoded text and `<|end|>`. The `<|policy|>` marker that hands over to the policy
//! belongs to the observation before it; what the policy then samples is a segment of exactly those tokens. Text never
//! makes a marker: special tokens come only from here.

use merit_core::{Known, Message, Provenance, Role, Segment, TokenId};
use merit_model::Tokenizer;
use std::sync::Arc;

/// How a conversation is laid out in tokens. Cheap to clone.
#[derive(Clone)]
pub struct ChatFormat {
    tokenizer: Arc<Tokenizer>,
    end: TokenId,
    markers: [TokenId; Role::ALL.len()],
}

/// A tokenizer that lacks a marker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tokenizer has no special token `{0}`; train it with the markers of every role and `<|end|>`")]
pub struct MissingMarker(pub String);

impl ChatFormat {
    /// The format over `tokenizer`, which must know `<|end|>` and the marker of every role.
    pub fn new(tokenizer: Arc<Tokenizer>) -> Result<Self, MissingMarker> {
        let special = |name: &str| tokenizer.special(name).ok_or_else(|| MissingMarker(name.to_owned()));
        let end = special("<|end|>")?;
        let mut markers = [end; Role::ALL.len()];
        for (marker, role) in markers.iter_mut().zip(Role::ALL) {
            *marker = special(&format!("<|{}|>", role.name()))?;
        }
        Ok(Self { tokenizer, end, markers })
    }

    /// The tokenizer underneath.
    pub fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.tokenizer
    }

    /// The token that ends a message, and a turn of the policy when it samples it.
    pub fn end(&self) -> TokenId {
        self.end
    }

    /// The marker that begins a message of `role`.
    pub fn marker(&self, role: Role) -> TokenId {
        self.markers[role as usize]
    }

    /// What was observed in turn `turn`, one segment per message. With `hand_over` the policy speaks next: its marker ends
    /// the last segment, or is a segment of the environment when there is no message.
    pub fn observe(&self, messages: &[Message], turn: u32, hand_over: bool) -> Vec<Segment> {
        let mut segments: Vec<Segment> = messages.iter().map(|message| self.segment(message, turn)).collect();
        if hand_over {
            if segments.is_empty() {
                segments.push(observation(Role::Environment, turn, Vec::new(), String::new()));
            }
            if let Some(last) = segments.last_mut() {
                last.tokens.push(self.marker(Role::Policy));
            }
        }
        segments
    }

    /// The text of what the policy sampled, as the transcript shows it.
    pub fn shown(&self, tokens: &[TokenId]) -> String {
        self.tokenizer.decode(tokens)
    }

    /// The text to act on: without the end token, and without what a token carried past the first stop string.
    pub fn spoken(&self, tokens: &[TokenId], stops: &[String]) -> String {
        let said = tokens.strip_suffix(&[self.end]).unwrap_or(tokens);
        let mut text = self.tokenizer.decode(said);
        if let Some(cut) = first_stop(&text, stops) {
            text.truncate(cut);
        }
        text
    }

    /// The tokens of a turn that says `text`, as a policy would sample them: up to the first stop string, or ended by
    /// `<|end|>` when there is none.
    pub fn say(&self, text: &str, stops: &[String]) -> Said {
        match first_stop(text, stops) {
            Some(cut) => Said { tokens: self.tokenizer.encode(&text[..cut]), stop_string: true },
            None => {
                let mut tokens = self.tokenizer.encode(text);
                tokens.push(self.end);
                Said { tokens, stop_string: false }
            }
        }
    }

    /// The messages of a context, read back by their markers. A marker with nothing behind it hands over and is no message.
    pub fn read(&self, context: &[TokenId]) -> Vec<Message> {
        let mut messages = Vec::new();
        let mut rest = context;
        while let Some((role, body)) = self.next_message(&mut rest) {
            let handed_over = role == Role::Policy && body.is_empty() && rest.is_empty();
            if !handed_over {
                let said = body.strip_suffix(&[self.end]).unwrap_or(body);
                messages.push(Message::new(role, self.tokenizer.decode(said)));
            }
        }
        messages
    }

    fn next_message<'a>(&self, rest: &mut &'a [TokenId]) -> Option<(Role, &'a [TokenId])> {
        let (first, tail) = rest.split_first()?;
        let role = self.role_of(*first)?;
        let len = tail.iter().position(|&token| self.role_of(token).is_some()).unwrap_or(tail.len());
        let (body, after) = tail.split_at(len);
        *rest = after;
        Some((role, body))
    }

    fn role_of(&self, token: TokenId) -> Option<Role> {
        self.markers.iter().position(|&marker| marker == token).map(|at| Role::ALL[at])
    }

    fn segment(&self, message: &Message, turn: u32) -> Segment {
        let mut tokens = vec![self.marker(message.role)];
        tokens.extend(self.tokenizer.encode(&message.text));
        tokens.push(self.end);
        observation(message.role, turn, tokens, message.text.clone())
    }
}

/// The tokens of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What would have been sampled.
    pub tokens: Vec<TokenId>,
    /// Whether a stop string ended it; otherwise `<|end|>` did.
    pub stop_string: bool,
}

fn observation(role: Role, turn: u32, tokens: Vec<TokenId>, text: String) -> Segment {
    Segment {
        role,
        provenance: Provenance::Sampled,
        turn,
        tokens,
        logprobs: Vec::new(),
        values: Vec::new(),
        policy_version: None,
        text,
        known: Known::Full,
    }
}

/// Where the first stop string of `text` ends.
fn first_stop(text: &str, stops: &[String]) -> Option<usize> {
    let ends = stops.iter().filter(|stop| !stop.is_empty());
    ends.filter_map(|stop| text.find(stop.as_str()).map(|at| at + stop.len())).min()
}
