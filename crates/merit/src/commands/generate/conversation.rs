//! Conversations to tokens, by the model's own template.
//!
//! A plain conversation is laid out piece by piece, so that what a message says is never taken for a mark of the template. One
//! in which the assistant has called tools is rendered whole, since only the template knows how calls are written; there, texts
//! that spell a mark are refused.

use super::line::{Refusal, RefusalKind, written};
use crate::commands::local;
use merit_core::registry::nearest;
use merit_core::{Message, Role, TokenId};
use merit_model::{LanguageModel, Tokenizer};
use merit_rollout::ChatFormat;
use merit_text::{ChatMessage, ChatTool, TemplateContext};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Sets of tools for which the layout is kept.
const LAYOUTS: usize = 32;

/// Lays conversations out.
pub(super) struct Conversations<'a> {
    model: &'a LanguageModel,
    layouts: HashMap<String, ChatFormat>,
    marks: OnceLock<Vec<String>>,
}

/// A conversation in tokens, and the tokens that end the answer.
pub(super) struct LaidOut {
    pub(super) context: Vec<TokenId>,
    pub(super) ends: Vec<TokenId>,
}

impl<'a> Conversations<'a> {
    pub(super) fn new(model: &'a LanguageModel) -> Self {
        Self { model, layouts: HashMap::new(), marks: OnceLock::new() }
    }

    pub(super) fn lay_out(
        &mut self,
        messages: &[ChatMessage],
        tools: &[ChatTool],
    ) -> Result<LaidOut, Refusal> {
        let refuse = |message: String| Refusal::new(RefusalKind::Conversation, message);
        let roles: Vec<Role> =
            messages.iter().enumerate().map(role).collect::<Result<_, _>>().map_err(refuse)?;
        match roles.last() {
            None => return Err(refuse("`messages` is empty".to_owned())),
            Some(Role::Policy) => {
                return Err(refuse(
                    "the last message is the assistant's; end with one that wants an answer".to_owned(),
                ));
            }
            Some(_) => {}
        }
        let setting = TemplateContext { tools: tools.to_vec(), ..TemplateContext::default() };
        let format = self.format(&setting).map_err(refuse)?;
        let ends = local::ends(self.model, &format);
        let is_plain = |message: &ChatMessage| {
            message.tool_calls.is_empty() && message.name.is_none() && message.tool_call_id.is_none()
        };
        let context = if messages.iter().all(is_plain) {
            let said: Vec<Message> = messages
                .iter()
                .zip(roles)
                .map(|(message, role)| Message::new(role, &*message.content))
                .collect();
            format.observe(&[], &said, 0, true).into_iter().flat_map(|segment| segment.tokens).collect()
        } else {
            self.render(messages, &setting).map_err(refuse)?
        };
        Ok(LaidOut { context, ends })
    }

    fn format(&mut self, setting: &TemplateContext) -> Result<ChatFormat, String> {
        let key = serde_json::to_string(&setting.tools).map_err(|error| error.to_string())?;
        if let Some(format) = self.layouts.get(&key) {
            return Ok(format.clone());
        }
        let format = local::chat_format(self.model, setting)?;
        if self.layouts.len() >= LAYOUTS {
            self.layouts.clear();
        }
        self.layouts.insert(key, format.clone());
        Ok(format)
    }

    fn render(&self, messages: &[ChatMessage], setting: &TemplateContext) -> Result<Vec<TokenId>, String> {
        let tokenizer = self.model.tokenizer();
        let marks = self.marks.get_or_init(|| marks(tokenizer));
        for (index, message) in messages.iter().enumerate() {
            let texts = written(message);
            if let Some(mark) = marks.iter().find(|mark| texts.iter().any(|text| text.contains(*mark))) {
                return Err(format!(
                    "message {index} holds `{mark}`, which is a mark of the model and no text"
                ));
            }
        }
        let template = self.model.template().ok_or("the model has no chat template")?;
        let text = template.render(messages, setting, true).map_err(|error| error.to_string())?;
        Ok(tokenizer.encode_with_specials(&text))
    }
}

fn role((index, message): (usize, &ChatMessage)) -> Result<Role, String> {
    const KNOWN: [(&str, Role); 4] =
        [("system", Role::System), ("user", Role::User), ("assistant", Role::Policy), ("tool", Role::Tool)];
    if let Some((_, role)) = KNOWN.iter().find(|(name, _)| *name == message.role) {
        return Ok(*role);
    }
    let names = KNOWN.map(|(name, _)| name);
    let hint =
        nearest(&message.role, names).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
    let shown: String = message.role.chars().take(60).collect();
    Err(format!("message {index} has the role `{shown}`{hint}; known: {}", names.join(", ")))
}

/// The names of all special tokens.
fn marks(tokenizer: &Arc<Tokenizer>) -> Vec<String> {
    let ids = (0..u32::try_from(tokenizer.vocab_len()).unwrap_or(u32::MAX)).map(TokenId);
    ids.filter_map(|id| tokenizer.special_name(id))
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}
