//! The layout of a real model, by its own template.
//!
//! The text between messages comes from the template's frames and is tokenised with its special tokens; what the messages say
//! is tokenised without. A context is read back by finding the same frames in it.

use super::{ChatFormat, ChatFormatError, observation, put_last};
use merit_core::{Message, Role, Segment, TokenId};
use merit_model::Tokenizer;
use merit_text::{ChatFrames, ChatTemplate, Frame, Place, TemplateContext, TemplateRole};

/// A frame found in a context: who speaks behind it, and how many tokens it has.
type Found = (TemplateRole, usize);

/// Frames, and the tokens between any two messages.
pub(super) struct Templated {
    frames: ChatFrames,
    /// Every allowed step with its tokens, the longest first.
    gaps: Vec<(Place, TemplateRole, Vec<TokenId>)>,
    closes: Vec<(TemplateRole, Vec<TokenId>)>,
    /// For what has no pieces: tools and calls.
    template: ChatTemplate,
    setting: TemplateContext,
}

impl Templated {
    /// The frames of a template, and the tokens that end a turn.
    pub(super) fn new(
        tokenizer: &Tokenizer,
        template: &ChatTemplate,
        setting: &TemplateContext,
        names: &[String],
    ) -> Result<(Self, Vec<TokenId>), ChatFormatError> {
        let frames = ChatFrames::derive(template, setting)?;
        let places = TemplateRole::ALL.map(Place::After).into_iter().chain([Place::Start]);
        let mut gaps = Vec::new();
        for (place, role) in places.flat_map(|place| TemplateRole::ALL.map(|role| (place, role))) {
            if let Some(gap) = frames.gap(place, role) {
                gaps.push((place, role, checked_tokens(tokenizer, gap)?));
            }
        }
        gaps.sort_by_key(|(_, _, tokens)| std::cmp::Reverse(tokens.len()));
        let mut closes = Vec::new();
        for role in TemplateRole::ALL {
            if let Some(close) = frames.close(role).filter(|close| !close.is_empty()) {
                closes.push((role, checked_tokens(tokenizer, close)?));
            }
        }
        let ends = ends(tokenizer, &frames, template, names)?;
        let (template, setting) = (template.clone(), setting.clone());
        Ok((Self { frames, gaps, closes, template, setting }, ends))
    }

    /// The whole template, with the setting it is used in.
    pub(super) fn template(&self) -> (&ChatTemplate, &TemplateContext) {
        (&self.template, &self.setting)
    }

    /// What a message of `role` says, as the template shows it.
    pub(super) fn shown(&self, role: TemplateRole, text: &str) -> String {
        self.frames.content(role).shown(text)
    }

    pub(super) fn observe(
        &self,
        chat: &ChatFormat,
        before: &[TokenId],
        messages: &[Message],
        turn: u32,
        hand_over: bool,
    ) -> Vec<Segment> {
        let place = if before.is_empty() { Place::Start } else { Place::After(TemplateRole::Assistant) };
        let said: Vec<(TemplateRole, &str)> =
            messages.iter().map(|message| (template_role(message.role), message.text.as_str())).collect();
        let layout = self.frames.lay_out(place, &said, hand_over);
        let mut closed = before.last().is_some_and(|last| chat.ends().contains(last));
        // Only the first piece follows what the policy said.
        let mut framing = |text: &str| {
            let tokens = frame_tokens(chat.tokenizer(), text);
            if std::mem::take(&mut closed) { without_close(chat, tokens) } else { tokens }
        };
        let mut segments: Vec<Segment> = Vec::new();
        // Tokens of an empty message that the template asked for, waiting for the segment they belong to.
        let mut ahead: Vec<TokenId> = Vec::new();
        for Frame { message, lead, content, .. } in &layout.frames {
            let mut tokens = std::mem::take(&mut ahead);
            tokens.extend(framing(lead));
            tokens.extend(chat.tokenizer().encode(content));
            match (message.map(|index| &messages[index]), segments.last_mut()) {
                (Some(message), _) => {
                    segments.push(observation(message.role, turn, tokens, message.text.clone()));
                }
                (None, Some(last)) => last.tokens.extend(tokens),
                (None, None) => ahead = tokens,
            }
        }
        ahead.extend(framing(&layout.tail));
        if hand_over || !segments.is_empty() {
            put_last(&mut segments, turn, ahead);
        }
        segments
    }

    pub(super) fn read(&self, chat: &ChatFormat, context: &[TokenId]) -> Vec<Message> {
        let mut messages = Vec::new();
        let Some((mut role, len)) = self.gap_at(chat, Place::Start, context, 0) else { return messages };
        let mut rest = &context[len..];
        loop {
            let next =
                (0..rest.len()).find_map(|at| Some((at, self.gap_at(chat, Place::After(role), rest, at)?)));
            let said = match next {
                Some((at, _)) => &rest[..at],
                None => self.without_closing(role, rest),
            };
            let handed_over = role == TemplateRole::Assistant && next.is_none() && said.is_empty();
            if !handed_over {
                let said = if role == TemplateRole::Assistant { chat.without_end(said) } else { said };
                let text = chat.tokenizer().decode(said);
                messages.push(Message::new(record_role(role), self.frames.content(role).read(&text)));
            }
            let Some((at, (speaker, len))) = next else { return messages };
            (role, rest) = (speaker, &rest[at + len..]);
        }
    }

    /// The longest frame that stands at `at` behind a message of `place`.
    fn gap_at(&self, chat: &ChatFormat, place: Place, tokens: &[TokenId], at: usize) -> Option<Found> {
        let here = &tokens[at..];
        let policy_ended = place == Place::After(TemplateRole::Assistant)
            && at.checked_sub(1).is_some_and(|last| chat.ends().contains(&tokens[last]));
        let stands = |gap: &Vec<TokenId>| -> Option<usize> {
            if !gap.is_empty() && here.starts_with(gap) {
                return Some(gap.len());
            }
            let rest = policy_ended.then(|| without_close(chat, gap.clone()))?;
            (!rest.is_empty() && rest.len() < gap.len() && here.starts_with(&rest)).then_some(rest.len())
        };
        let fitting = self.gaps.iter().filter(|(from, _, _)| *from == place);
        fitting.filter_map(|(_, role, gap)| Some((*role, stands(gap)?))).max_by_key(|(_, len)| *len)
    }

    /// The last message of a context without what closes it.
    fn without_closing<'a>(&self, role: TemplateRole, tokens: &'a [TokenId]) -> &'a [TokenId] {
        let close = self.closes.iter().find(|(of, _)| *of == role);
        close.and_then(|(_, close)| tokens.strip_suffix(close.as_slice())).unwrap_or(tokens)
    }
}

/// The tokens that end a turn: that of the template's close, its end-of-text token, and those named.
fn ends(
    tokenizer: &Tokenizer,
    frames: &ChatFrames,
    template: &ChatTemplate,
    names: &[String],
) -> Result<Vec<TokenId>, ChatFormatError> {
    let close = frames.gap(Place::After(TemplateRole::Assistant), TemplateRole::User).unwrap_or_default();
    let tokens = frame_tokens(tokenizer, close);
    let closing = tokens.iter().position(|&token| tokenizer.special_name(token).is_some());
    let closing =
        closing.filter(|&at| tokenizer.decode(&tokens[..at]).trim().is_empty()).map(|at| tokens[at]);
    let last = template.specials().eos.as_deref().and_then(|name| tokenizer.special(name));
    let mut ends: Vec<TokenId> = closing.into_iter().chain(last).collect();
    for name in names {
        ends.push(tokenizer.special(name).ok_or_else(|| ChatFormatError::UnknownEnd(name.clone()))?);
    }
    let mut seen = std::collections::HashSet::new();
    ends.retain(|end| seen.insert(*end));
    if ends.is_empty() {
        return Err(ChatFormatError::NoEnd { close: close.to_owned() });
    }
    Ok(ends)
}

/// The tokens of a template's text, which must say just that text.
fn checked_tokens(tokenizer: &Tokenizer, text: &str) -> Result<Vec<TokenId>, ChatFormatError> {
    let tokens = frame_tokens(tokenizer, text);
    let written = tokenizer.decode_with_specials(&tokens);
    if written == text {
        Ok(tokens)
    } else {
        Err(ChatFormatError::Unwritable { text: text.to_owned(), written })
    }
}

/// The tokens of a template's text. A tokenizer that puts a space before every piece would change the text; then the pieces
/// between special tokens are written as they are.
pub(super) fn frame_tokens(tokenizer: &Tokenizer, text: &str) -> Vec<TokenId> {
    let tokens = tokenizer.encode_with_specials(text);
    if tokenizer.decode_with_specials(&tokens) == text {
        return tokens;
    }
    let mut out = Vec::new();
    let mut plain: Vec<TokenId> = Vec::new();
    let mut rest = text;
    for token in tokens {
        let Some(name) = tokenizer.special_name(token) else { continue };
        let Some((before, after)) = rest.split_once(name) else { continue };
        plain.extend(tokenizer.encode(before));
        out.append(&mut plain);
        out.push(token);
        rest = after;
    }
    out.extend(tokenizer.encode(rest));
    out
}

/// A frame behind what the policy said, without the token that the policy has sampled itself, or an end in its place.
fn without_close(chat: &ChatFormat, mut tokens: Vec<TokenId>) -> Vec<TokenId> {
    let end = tokens.iter().position(|token| chat.ends().contains(token));
    match end.filter(|&at| chat.tokenizer().decode(&tokens[..at]).trim().is_empty()) {
        Some(at) => tokens.split_off(at + 1),
        None => tokens,
    }
}

fn template_role(role: Role) -> TemplateRole {
    match role {
        Role::System => TemplateRole::System,
        Role::Policy => TemplateRole::Assistant,
        Role::Tool => TemplateRole::Tool,
        Role::User | Role::Environment | Role::Hint => TemplateRole::User,
    }
}

fn record_role(role: TemplateRole) -> Role {
    match role {
        TemplateRole::System => Role::System,
        TemplateRole::User => Role::User,
        TemplateRole::Assistant => Role::Policy,
        TemplateRole::Tool => Role::Tool,
    }
}
