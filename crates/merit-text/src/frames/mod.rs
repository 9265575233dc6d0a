//! A chat template cut into pieces that only ever grow.
//!
//! In: a template. Out: the text between any two messages, by who spoke before and who speaks next, so that a conversation
//! can be laid out message by message without touching what is there already. The pieces are found by rendering probes and
//! proven by rendering longer ones (`derive.rs`); a template for which appending is not rendering is refused.

mod content;
mod derive;

pub use content::Content;

use crate::{ChatMessage, ChatTemplate, FramesError, TemplateContext};

/// Who speaks, in the words of templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TemplateRole {
    /// Standing instructions.
    System,
    /// The person, the world, or whatever else is not the model.
    User,
    /// The model, which answers.
    Assistant,
    /// The answer of a tool.
    Tool,
}

impl TemplateRole {
    /// Every role, in the order of declaration.
    pub const ALL: [Self; 4] = [Self::System, Self::User, Self::Assistant, Self::Tool];

    /// The word in templates.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// Where in a conversation the next message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Nothing has been said.
    Start,
    /// Right behind the text of a message.
    After(TemplateRole),
}

impl Place {
    fn index(self) -> usize {
        match self {
            Self::Start => 0,
            Self::After(role) => 1 + role as usize,
        }
    }
}

/// What stands between the messages of a later message of the same speaker where the template takes only one.
const JOIN: &str = "\n\n";

/// The pieces of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatFrames {
    /// By place, then by who speaks next. Absent: the template does not allow it.
    gaps: [[Option<String>; 4]; 5],
    /// What follows the last message when no answer is asked for.
    closes: [Option<String>; 4],
    contents: [Content; 4],
}

/// One message laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Which of the given messages it is. Absent: an empty one that the template asks for between two of them.
    pub message: Option<usize>,
    /// Whose message it became, or continues.
    pub role: TemplateRole,
    /// Whether it continues the message before it, because the template takes only one there.
    pub joined: bool,
    /// Text of the template before it, with special tokens by name.
    pub lead: String,
    /// What it says, as the template would show it; never a special token.
    pub content: String,
}

/// Messages laid out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// In the order of the messages.
    pub frames: Vec<Frame>,
    /// Text of the template after the last: it hands over to the assistant, or closes the message.
    pub tail: String,
}

impl ChatFrames {
    /// Cuts a template into pieces, in the setting in which it will be used.
    pub fn derive(template: &ChatTemplate, setting: &TemplateContext) -> Result<Self, FramesError> {
        derive::frames(template, setting)
    }

    /// The text between `place` and what `role` says next. Absent: the template does not allow it.
    pub fn gap(&self, place: Place, role: TemplateRole) -> Option<&str> {
        self.gaps[place.index()][role as usize].as_deref()
    }

    /// The text after the last message when no answer is asked for. Absent: the template says nothing of it.
    pub fn close(&self, role: TemplateRole) -> Option<&str> {
        self.closes[role as usize].as_deref()
    }

    /// What happens to the text of a message of `role`.
    pub fn content(&self, role: TemplateRole) -> Content {
        self.contents[role as usize]
    }

    /// Lays messages out behind `place`. Roles that the template does not take there speak as the user; where it takes no
    /// second message of a speaker, the text is joined to the first. With `hand_over` the assistant speaks next.
    pub fn lay_out(&self, place: Place, messages: &[(TemplateRole, &str)], hand_over: bool) -> Layout {
        let mut pen = Pen { frames: self, place, present_empty: true, layout: Layout::default() };
        for (index, &(role, text)) in messages.iter().enumerate() {
            pen.write(index, role, text);
        }
        if hand_over {
            pen.layout.tail = pen.before_assistant().to_owned();
        } else if let (Place::After(role), false) = (pen.place, messages.is_empty()) {
            pen.layout.tail = self.close(role).unwrap_or_default().to_owned();
        }
        pen.layout
    }

    /// The role that a message of `role` gets at `place`.
    fn settle(&self, place: Place, role: TemplateRole) -> TemplateRole {
        match role {
            TemplateRole::System | TemplateRole::Tool if self.gap(place, role).is_none() => {
                TemplateRole::User
            }
            role => role,
        }
    }
}

impl Layout {
    /// The messages as a template would be asked to render them whole.
    pub fn messages(&self) -> Vec<ChatMessage> {
        let mut messages: Vec<ChatMessage> = Vec::new();
        for frame in &self.frames {
            match messages.last_mut() {
                Some(last) if frame.joined => {
                    last.content.push_str(&frame.lead);
                    last.content.push_str(&frame.content);
                }
                _ => messages.push(ChatMessage::new(frame.role.name(), frame.content.clone())),
            }
        }
        messages
    }
}

/// A layout under way.
struct Pen<'a> {
    frames: &'a ChatFrames,
    place: Place,
    /// Whether the present message says nothing yet.
    present_empty: bool,
    layout: Layout,
}

impl Pen<'_> {
    fn write(&mut self, index: usize, role: TemplateRole, text: &str) {
        let role = self.frames.settle(self.place, role);
        if role == TemplateRole::Assistant {
            let lead = self.before_assistant().to_owned();
            return self.put(Some(index), role, lead, text);
        }
        match (self.frames.gap(self.place, role), self.place) {
            (Some(lead), _) => self.put(Some(index), role, lead.to_owned(), text),
            (None, Place::After(present)) => self.join(index, present, text),
            (None, Place::Start) => self.join(index, role, text),
        }
    }

    fn put(&mut self, message: Option<usize>, role: TemplateRole, lead: String, text: &str) {
        let content = self.frames.content(role).shown(text);
        (self.place, self.present_empty) = (Place::After(role), content.is_empty());
        self.layout.frames.push(Frame { message, role, joined: false, lead, content });
    }

    /// Adds to the present message. Where the template trims, an empty text adds nothing: not even what joins it.
    fn join(&mut self, index: usize, present: TemplateRole, text: &str) {
        let rule = self.frames.content(present);
        let shown = rule.shown(text);
        let adds = !rule.trims() || !(shown.is_empty() || self.present_empty);
        let (lead, content) = match (adds, rule.is_json()) {
            (true, true) => (String::new(), rule.shown(&format!("{JOIN}{text}"))),
            (true, false) => (JOIN.to_owned(), shown),
            (false, _) => (String::new(), shown),
        };
        self.present_empty &= content.is_empty();
        let message = Some(index);
        self.layout.frames.push(Frame { message, role: present, joined: true, lead, content });
    }

    /// The text that the assistant's own follows; an empty message of the user is put in where the template asks for one.
    fn before_assistant(&mut self) -> &str {
        if self.frames.gap(self.place, TemplateRole::Assistant).is_none() {
            let lead = self.frames.gap(self.place, TemplateRole::User).unwrap_or_default().to_owned();
            self.put(None, TemplateRole::User, lead, "");
        }
        self.frames.gap(self.place, TemplateRole::Assistant).unwrap_or_default()
    }
}
