//! A whole conversation that somebody else wrote, in the tokens of a model: what is read, and what is to be learned.
//!
//! Without tools and calls it is laid out message by message, exactly as a rollout would. Tools and calls are the template's to
//! write: then the whole is rendered, and a turn of the assistant is what stands between the place where it is handed over to
//! and the first token that ends a turn. That holds as long as the template only appends; where it does not, it is refused.

use super::templated::{Templated, frame_tokens};
use super::{ChatFormat, Layout};
use merit_core::{Message, Role, TokenId};
use merit_text::{ChatMessage, ChatTool, TemplateContext, TemplateError, TemplateRole};

/// A conversation in tokens, up to the last that is learned.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaidOut {
    pub tokens: Vec<TokenId>,
    /// True where the assistant speaks; one entry per token.
    pub mask: Vec<bool>,
}

/// Why a conversation has no tokens.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LayOutError {
    /// A role of somebody else's.
    #[error("message {message} has the role `{role}`; known: system, user, assistant, tool")]
    Role { message: usize, role: String },
    /// A layout of ours, which has no place for them.
    #[error(
        "it has tools or calls, and a decoder made on the spot has no template that writes them; write calls as text in \
         `content` and leave out `tools`, or name a model with `file` in `[model]`"
    )]
    NoTemplate,
    /// A text that would become something else.
    #[error(
        "message {message} contains `{token}`, a special token of this model, which only its template may write"
    )]
    Special { message: usize, token: String },
    #[error(
        "the model's template shows what comes before message {message} differently once the message is there, so that the \
         model would learn from what it never sees"
    )]
    Rewritten { message: usize },
    #[error("the model's template does not end message {message} by a token that ends a turn")]
    Unended { message: usize },
    #[error("the model's template: {0}")]
    Template(#[from] TemplateError),
}

impl ChatFormat {
    /// The tokens of a conversation; those of the assistant are learned from message `from` on.
    pub fn lay_out(
        &self,
        messages: &[ChatMessage],
        tools: &[ChatTool],
        from: usize,
    ) -> Result<LaidOut, LayOutError> {
        let plain = tools.is_empty() && messages.iter().all(|message| message.tool_calls.is_empty());
        let mut laid = match &self.layout {
            _ if plain => self.append_all(messages, from)?,
            Layout::Marked(_) => return Err(LayOutError::NoTemplate),
            Layout::Templated(templated) => self.render_all(templated, messages, tools, from)?,
        };
        let end = laid.mask.iter().rposition(|&learned| learned).map_or(0, |last| last + 1);
        laid.tokens.truncate(end);
        laid.mask.truncate(end);
        Ok(laid)
    }

    fn append_all(&self, messages: &[ChatMessage], from: usize) -> Result<LaidOut, LayOutError> {
        let mut laid = LaidOut::default();
        let (mut heard, mut turn) = (Vec::new(), 0);
        for (at, message) in messages.iter().enumerate() {
            let role = role_of(at, &message.role)?;
            if role != Role::Policy {
                heard.push(Message::new(role, message.content.clone()));
                continue;
            }
            for segment in self.observe(&laid.tokens, &std::mem::take(&mut heard), turn, true) {
                laid.put(&segment.tokens, false);
            }
            let shown = match &self.layout {
                Layout::Marked(_) => message.content.clone(),
                Layout::Templated(templated) => templated.shown(TemplateRole::Assistant, &message.content),
            };
            laid.put(&self.say(&shown, &[]).tokens, at >= from);
            turn += 1;
        }
        Ok(laid)
    }

    fn render_all(
        &self,
        templated: &Templated,
        messages: &[ChatMessage],
        tools: &[ChatTool],
        from: usize,
    ) -> Result<LaidOut, LayOutError> {
        self.refuse_specials(messages)?;
        let (template, setting) = templated.template();
        let setting = TemplateContext { tools: tools.to_vec(), ..setting.clone() };
        let whole = template.render(messages, &setting, false)?;
        let ends: Vec<&str> = self.ends.iter().filter_map(|&end| self.tokenizer.special_name(end)).collect();
        let (mut laid, mut written) = (LaidOut::default(), 0);
        for (at, _) in messages.iter().enumerate().filter(|(_, message)| message.role == "assistant") {
            let before = template.render(&messages[..at], &setting, true)?;
            let rest = whole.strip_prefix(before.as_str()).filter(|_| before.len() >= written);
            let rest = rest.ok_or(LayOutError::Rewritten { message: at + 1 })?;
            let ended = ends.iter().filter_map(|end| Some(rest.find(end)? + end.len())).min();
            let said = &rest[..ended.ok_or(LayOutError::Unended { message: at + 1 })?];
            laid.put(&frame_tokens(&self.tokenizer, &before[written..]), false);
            laid.put(&frame_tokens(&self.tokenizer, said), at >= from);
            written = before.len() + said.len();
        }
        Ok(laid)
    }

    /// Text never makes a special token.
    fn refuse_specials(&self, messages: &[ChatMessage]) -> Result<(), LayOutError> {
        for (at, message) in messages.iter().enumerate() {
            role_of(at, &message.role)?;
            let calls = message.tool_calls.iter().map(|call| format!("{} {}", call.name, call.arguments));
            for text in std::iter::once(message.content.clone()).chain(calls) {
                let tokens = self.tokenizer.encode_with_specials(&text);
                if let Some(name) = tokens.iter().find_map(|&token| self.tokenizer.special_name(token)) {
                    return Err(LayOutError::Special { message: at + 1, token: name.to_owned() });
                }
            }
        }
        Ok(())
    }
}

impl LaidOut {
    fn put(&mut self, tokens: &[TokenId], learned: bool) {
        self.tokens.extend(tokens);
        self.mask.extend(std::iter::repeat_n(learned, tokens.len()));
    }
}

fn role_of(at: usize, role: &str) -> Result<Role, LayOutError> {
    match role {
        "system" => Ok(Role::System),
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Policy),
        "tool" => Ok(Role::Tool),
        other => Err(LayOutError::Role { message: at + 1, role: other.to_owned() }),
    }
}
