//! Messages to tokens, exactly once, and the layout of a conversation in tokens.
//!
//! In: messages of the world, and what the policy sampled. Out: segments to append, and messages read back from a context.
//! There are two layouts. The markers of a tokenizer trained on the spot: a message is its role's marker, its encoded text and
//! `<|end|>` (`chat/marked.rs`). And a real model's own template, cut into pieces that only ever grow (`chat/templated.rs`).
//! Whatever hands over to the policy belongs to the observation before it; what the policy then samples is a segment of
//! exactly those tokens, and what closes its turn, where it did not do so itself, begins the next observation. Text never
//! makes a special token: those come only from here.

mod conversation;
mod marked;
mod templated;

pub use conversation::{LaidOut, LayOutError};
use marked::Marked;
use merit_core::{Known, Message, Provenance, Role, Segment, TokenId};
use merit_model::{LanguageModel, Tokenizer};
use merit_text::{ChatTemplate, FramesError, TemplateContext};
use std::sync::Arc;
use templated::Templated;

/// How a conversation is laid out in tokens. Cheap to clone.
#[derive(Clone)]
pub struct ChatFormat {
    tokenizer: Arc<Tokenizer>,
    /// At least one; the first is what a written turn ends with.
    ends: Arc<[TokenId]>,
    layout: Layout,
}

#[derive(Clone)]
enum Layout {
    Marked(Marked),
    Templated(Arc<Templated>),
}

/// A tokenizer that lacks a marker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tokenizer has no special token `{0}`; train it with the markers of every role and `<|end|>`")]
pub struct MissingMarker(pub String);

/// A template that cannot be used with a tokenizer for rollouts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChatFormatError {
    /// The model was not made for conversations.
    #[error(
        "it has no chat template, so it was not made for conversations; `merit generate` gives it plain prompts"
    )]
    NoTemplate,
    /// It cannot be laid out piece by piece.
    #[error(transparent)]
    Frames(#[from] FramesError),
    /// A named token is not a special token of the tokenizer.
    #[error("the tokenizer has no special token `{0}`, which was named as the end of a turn")]
    UnknownEnd(String),
    /// Nothing says where a turn ends.
    #[error(
        "nothing ends a turn: the template closes it by {close:?}, and no special token is named as an end"
    )]
    NoEnd {
        /// What the template puts behind what the assistant says.
        close: String,
    },
    /// The tokenizer cannot write the text of the template.
    #[error("the tokenizer writes {text:?} of the template as {written:?}")]
    Unwritable {
        /// The text of the template.
        text: String,
        written: String,
    },
}

impl ChatFormat {
    /// The format over a tokenizer trained on the spot, which must know `<|end|>` and the marker of every role.
    pub fn new(tokenizer: Arc<Tokenizer>) -> Result<Self, MissingMarker> {
        let (marked, end) = Marked::new(&tokenizer)?;
        Ok(Self { tokenizer, ends: [end].into(), layout: Layout::Marked(marked) })
    }

    /// The format of a real model by its own template. A turn is ended by the token that the template closes it with, by the
    /// template's end-of-text token, and by the special tokens of these names.
    pub fn from_template(
        tokenizer: Arc<Tokenizer>,
        template: &ChatTemplate,
        setting: &TemplateContext,
        ends: &[String],
    ) -> Result<Self, ChatFormatError> {
        let (templated, ends) = Templated::new(&tokenizer, template, setting, ends)?;
        Ok(Self { tokenizer, ends: ends.into(), layout: Layout::Templated(Arc::new(templated)) })
    }

    /// The format of a model by its own template; a turn is also ended by what its files say ends a text.
    pub fn of_model(model: &LanguageModel, setting: &TemplateContext) -> Result<Self, ChatFormatError> {
        let template = model.template().ok_or(ChatFormatError::NoTemplate)?;
        Self::from_template(Arc::clone(model.tokenizer()), template, setting, model.end_names())
    }

    pub fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.tokenizer
    }

    /// The token that ends a turn that is written rather than sampled, the first of [`ChatFormat::ends`].
    pub fn end(&self) -> TokenId {
        self.ends[0]
    }

    /// Every token that ends a turn of the policy when it samples it.
    pub fn ends(&self) -> &[TokenId] {
        &self.ends
    }

    /// The marker that begins a message of `role`. Absent: the format is a template's.
    pub fn marker(&self, role: Role) -> Option<TokenId> {
        match &self.layout {
            Layout::Marked(marked) => Some(marked.marker(role)),
            Layout::Templated(_) => None,
        }
    }

    /// What was observed in turn `turn`, one segment per message, to be appended to the tokens `before`: none at the start,
    /// otherwise those up to the end of the policy's turn. Roles and texts of the segments do not depend on `before`. With
    /// `hand_over` the policy speaks next: what hands over ends the last segment, or is a segment of the environment when
    /// there is no message.
    pub fn observe(
        &self,
        before: &[TokenId],
        messages: &[Message],
        turn: u32,
        hand_over: bool,
    ) -> Vec<Segment> {
        match &self.layout {
            Layout::Marked(marked) => marked.observe(self, messages, turn, hand_over),
            Layout::Templated(templated) => templated.observe(self, before, messages, turn, hand_over),
        }
    }

    /// The text of what the policy sampled, as the transcript shows it.
    pub fn shown(&self, tokens: &[TokenId]) -> String {
        self.tokenizer.decode(tokens)
    }

    /// The text to act on: without the end token, and without what a token carried past the first stop string.
    pub fn spoken(&self, tokens: &[TokenId], stops: &[String]) -> String {
        let mut text = self.tokenizer.decode(self.without_end(tokens));
        if let Some(cut) = first_stop(&text, stops) {
            text.truncate(cut);
        }
        text
    }

    /// The tokens of a turn that says `text`, as a policy would sample them: up to the first stop string, or ended by the end
    /// token when there is none.
    pub fn say(&self, text: &str, stops: &[String]) -> Said {
        match first_stop(text, stops) {
            Some(cut) => Said { tokens: self.tokenizer.encode(&text[..cut]), stop_string: true },
            None => {
                let mut tokens = self.tokenizer.encode(text);
                tokens.push(self.end());
                Said { tokens, stop_string: false }
            }
        }
    }

    /// The messages of a context, read back. What hands over to the policy with nothing behind it is no message. By a
    /// template, roles come back as the template has them (the environment's and hints as the user's), and messages that
    /// were joined come back as one.
    pub fn read(&self, context: &[TokenId]) -> Vec<Message> {
        match &self.layout {
            Layout::Marked(marked) => marked.read(self, context),
            Layout::Templated(templated) => templated.read(self, context),
        }
    }

    fn without_end<'a>(&self, tokens: &'a [TokenId]) -> &'a [TokenId] {
        match tokens.split_last() {
            Some((last, said)) if self.ends.contains(last) => said,
            _ => tokens,
        }
    }
}

/// The tokens of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What would have been sampled.
    pub tokens: Vec<TokenId>,
    /// Whether a stop string ended it; otherwise the end token did.
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

/// Adds what hands over, or closes, to the last segment; to one of the environment when there is none.
fn put_last(segments: &mut Vec<Segment>, turn: u32, tokens: impl IntoIterator<Item = TokenId>) {
    if segments.is_empty() {
        segments.push(observation(Role::Environment, turn, Vec::new(), String::new()));
    }
    if let Some(last) = segments.last_mut() {
        last.tokens.extend(tokens);
    }
}

/// Where the first stop string of `text` ends.
fn first_stop(text: &str, stops: &[String]) -> Option<usize> {
    let ends = stops.iter().filter(|stop| !stop.is_empty());
    ends.filter_map(|stop| text.find(stop.as_str()).map(|at| at + stop.len())).min()
}
