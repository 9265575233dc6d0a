//! Chat templates: a conversation as one text, by the model's own template.
//!
//! In: a template as models carry it, the names of special tokens, messages and tools. Out: the text that the model was
//! trained on. Templates come from files, so each rendering has a limit of steps and of output; one step of a template may
//! still double a string, so a template written to use up memory is not caught.

mod date;
mod message;
mod python;

pub use message::{CalledFunction, ChatMessage, ChatTool};

use crate::{SpecialTokens, TemplateError};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, Value, context};
use serde_json::Map;
use std::sync::Arc;

const NAME: &str = "chat";

/// Everything besides the messages that a template may look at.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TemplateContext {
    /// Tools that may be called. Empty: the template is told of none.
    pub tools: Vec<ChatTool>,
    /// Further variables of the template, such as `enable_thinking`.
    pub variables: Map<String, serde_json::Value>,
    /// Seconds since 1970. Absent: `strftime_now` is not there, and templates fall back to a date of their own.
    pub now: Option<i64>,
}

/// A compiled template. Cheap to clone.
///
/// ```
/// use merit_text::{ChatMessage, ChatTemplate, TemplateContext, SpecialTokens};
/// let source = "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}";
/// let template = ChatTemplate::parse(source, SpecialTokens::default())?;
/// let text = template.render(&[ChatMessage::new("user", "hi")], &TemplateContext::default(), false)?;
/// assert_eq!(text, "[user] hi\n");
/// # Ok::<(), merit_text::TemplateError>(())
/// ```
#[derive(Clone)]
pub struct ChatTemplate {
    environment: Arc<Environment<'static>>,
    source: Arc<str>,
    specials: SpecialTokens,
}

impl ChatTemplate {
    pub fn parse(source: &str, specials: SpecialTokens) -> Result<Self, TemplateError> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|error| TemplateError::Syntax(error.to_string()))?);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_recursion_limit(64);
        python::install(&mut environment);
        environment
            .add_template_owned(NAME, without_generation_marks(source))
            .map_err(|error| TemplateError::Syntax(described(&error)))?;
        Ok(Self { environment: Arc::new(environment), source: source.into(), specials })
    }

    /// The conversation as text. With `generate` the text ends where the assistant begins to speak.
    pub fn render(
        &self,
        messages: &[ChatMessage],
        setting: &TemplateContext,
        generate: bool,
    ) -> Result<String, TemplateError> {
        let limits = Limits::of(messages, setting);
        let mut environment = (*self.environment).clone();
        environment.set_fuel(Some(limits.steps));
        if let Some(now) = setting.now {
            environment.add_function("strftime_now", move |format: String| date::strftime(now, &format));
        }
        let template =
            environment.get_template(NAME).map_err(|error| TemplateError::Failed(described(&error)))?;
        let mut out = Capped { text: Vec::new(), most: limits.bytes };
        let rendered = template.render_captured_to(self.context(messages, setting, generate), &mut out);
        match rendered.map(|_| ()) {
            Ok(()) => String::from_utf8(out.text).map_err(|error| TemplateError::Failed(error.to_string())),
            Err(_) if out.text.len() >= limits.bytes => Err(TemplateError::TooLong { bytes: limits.bytes }),
            Err(error) => Err(fault(&error, limits.steps)),
        }
    }

    /// The template as it was given.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The special tokens it was given.
    pub fn specials(&self) -> &SpecialTokens {
        &self.specials
    }

    fn context(&self, messages: &[ChatMessage], setting: &TemplateContext, generate: bool) -> Value {
        let name = |token: &Option<String>| token.clone().unwrap_or_default();
        let tools =
            if setting.tools.is_empty() { Value::from(()) } else { Value::from(Serde(&setting.tools)) };
        context! {
            messages => Value::from(Serde(messages)),
            tools => tools,
            documents => Value::from(()),
            add_generation_prompt => generate,
            bos_token => name(&self.specials.bos),
            eos_token => name(&self.specials.eos),
            unk_token => name(&self.specials.unknown),
            pad_token => name(&self.specials.padding),
            ..Value::from(Serde(&setting.variables))
        }
    }
}

impl std::fmt::Debug for ChatTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatTemplate")
            .field("source", &self.source)
            .field("specials", &self.specials)
            .finish()
    }
}

/// What one rendering may use. Templates go through the messages a few times and repeat what is in them.
struct Limits {
    steps: u64,
    bytes: usize,
}

impl Limits {
    fn of(messages: &[ChatMessage], setting: &TemplateContext) -> Self {
        let said: usize = messages.iter().map(|message| message.content.len()).sum();
        let parts = (messages.len() + setting.tools.len()) as u64;
        Self { steps: 1_000_000 + 20_000 * parts, bytes: (4 << 20) + 8 * said }
    }
}

struct Capped {
    text: Vec<u8>,
    most: usize,
}

impl std::io::Write for Capped {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        if self.text.len() + part.len() > self.most {
            self.text.resize(self.most, b' ');
            return Err(std::io::Error::other("too much output"));
        }
        self.text.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn fault(error: &Error, steps: u64) -> TemplateError {
    if error.kind() == ErrorKind::OutOfFuel {
        return TemplateError::OutOfFuel { steps };
    }
    match error.detail().and_then(|detail| detail.strip_prefix(python::REFUSED)) {
        Some(message) => TemplateError::Refused(message.to_owned()),
        None => TemplateError::Failed(described(error)),
    }
}

/// The error with its line.
fn described(error: &Error) -> String {
    let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    error.line().map_or_else(|| what.clone(), |line| format!("line {line}: {what}"))
}

/// Some templates mark what the assistant said by `{% generation %}` … `{% endgeneration %}`, which changes nothing in the
/// text. The marks become a condition that always holds.
fn without_generation_marks(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("{%") {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let end = tag.find("%}").map_or(tag.len(), |end| end + 2);
        let (tag, after) = tag.split_at(end);
        let word = tag.trim_start_matches("{%").trim_end_matches("%}").trim_matches(['-', '+']).trim();
        match word {
            "generation" => out.push_str(&tag.replace("generation", "if true")),
            "endgeneration" => out.push_str(&tag.replace("endgeneration", "endif")),
            _ => out.push_str(tag),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}
