//! From a context to what is asked of a server, and from its answer to a completion.
//!
//! Pure: the caller asks the endpoint. A completion is only made of what the server really said; whatever
//! would have to be guessed is an error.

use super::{CallForm, OpenAiSettings, PromptForm, TokenSource, ToolRole, native};
use crate::ChatFormat;
use merit_api::CallLanguage;
use merit_core::{Message, Provenance, Role, TokenId};
use merit_endpoint::{
    Answer, ChatMessage, ChatRequest, ChatRole, Endpoint, EndpointError, Finish, Params, Prompt, Server,
    TextRequest, TokenScore,
};
use merit_model::{
    Completion, Counted, SampleRequest, SamplerError, SamplingParams, StopReason, TokenLogprob,
};

pub(super) struct Turns {
    settings: OpenAiSettings,
    chat: ChatFormat,
}

/// What is asked of the server.
pub(super) enum Question {
    Chat(ChatRequest),
    Text(TextRequest),
}

impl Question {
    pub(super) async fn ask(&self, endpoint: &Endpoint) -> Result<Answer, EndpointError> {
        match self {
            Self::Chat(request) => endpoint.chat(request).await,
            Self::Text(request) => endpoint.continue_text(request).await,
        }
    }
}

/// A failure of the endpoint, as a failure of the sampler.
pub(super) fn failed(error: EndpointError) -> SamplerError {
    SamplerError::Server { cause: error.cause(), message: error.to_string() }
}

impl Turns {
    pub(super) fn new(settings: OpenAiSettings, chat: ChatFormat) -> Self {
        Self { settings, chat }
    }

    pub(super) fn context_limit(&self) -> usize {
        self.settings.context_limit.unwrap_or(usize::MAX)
    }

    pub(super) fn provenance(&self) -> Provenance {
        match self.settings.tokens {
            TokenSource::Text => Provenance::Synthetic,
            TokenSource::Server => Provenance::Sampled,
        }
    }

    pub(super) fn question(&self, request: &SampleRequest) -> Result<Question, SamplerError> {
        if request.context.is_empty() {
            return Err(SamplerError::EmptyContext);
        }
        let (got, limit) = (request.context.len(), self.context_limit());
        if got >= limit {
            return Err(SamplerError::ContextTooLong { got, limit });
        }
        self.settings.check_params(&request.params)?;
        let params = self.params(request);
        Ok(match self.settings.prompt_form() {
            PromptForm::Tokens => {
                Question::Text(TextRequest { prompt: Prompt::Tokens(request.context.clone()), params })
            }
            PromptForm::Messages => {
                let read = self.chat.read(&request.context);
                let (messages, tools) = match self.language(request)? {
                    Some(language) => (native::messages(language, read), native::functions(language)),
                    None => (self.messages(read), Vec::new()),
                };
                Question::Chat(ChatRequest { messages, tools, params })
            }
        })
    }

    /// The language between the server's calls and the record's text. Absent: calls are text.
    fn language<'a>(&self, request: &'a SampleRequest) -> Result<Option<&'a dyn CallLanguage>, SamplerError> {
        match (self.settings.calls, &request.params.calls) {
            (CallForm::Text, _) => Ok(None),
            (CallForm::Native, Some(language)) => Ok(Some(&**language)),
            (CallForm::Native, None) => Err(SamplerError::Params(
                "this world does not say how a server could call its tools; say `calls = \"text\"` (no --native-tools)"
                    .to_owned(),
            )),
        }
    }

    fn params(&self, request: &SampleRequest) -> Params {
        let asked = &*request.params;
        let from_server = self.settings.tokens == TokenSource::Server;
        let names_tokens = from_server && self.settings.endpoint.server.stops_at_tokens();
        let seed = request.seed.as_u64();
        let native = asked.calls.as_ref().filter(|_| self.settings.calls == CallForm::Native);
        Params {
            temperature: Some(asked.temperature),
            top_k: u32::try_from(asked.top_k).ok().filter(|&most| most > 0),
            top_p: (asked.top_p != 1.0).then_some(asked.top_p),
            min_p: (asked.min_p > 0.0).then_some(asked.min_p),
            // A hosted model need not be told, and some refuse to be.
            exact: self.settings.endpoint.server != Server::Openai,
            max_tokens: Some(asked.max_tokens.min(self.room(request))),
            // A stop of the text would end a turn before its calls.
            stop: if native.is_some() { Vec::new() } else { asked.stop.clone() },
            // Elsewhere the server knows the end of a turn by itself, or has other tokens than ours.
            stop_tokens: if names_tokens { asked.stop_tokens.clone() } else { Vec::new() },
            // The largest seed that every server takes.
            seed: Some(seed >> 33),
            logprobs: from_server.then_some(u32::try_from(asked.top_logprobs).unwrap_or(u32::MAX)),
            token_ids: from_server,
            sample: seed,
            tool_choice: None,
            parallel_tool_calls: native.filter(|language| !language.takes_several()).map(|_| false),
            response_format: None,
        }
    }

    fn room(&self, request: &SampleRequest) -> usize {
        self.context_limit() - request.context.len().min(self.context_limit())
    }

    /// The conversation as a server takes it: neighbours with the same role are one message, because many templates want the
    /// roles to take turns.
    fn messages(&self, read: Vec<Message>) -> Vec<ChatMessage> {
        let mut messages: Vec<ChatMessage> = Vec::new();
        for Message { role, text } in read {
            let role = self.role(role);
            match messages.last_mut() {
                Some(last) if last.role == role && role != ChatRole::Tool => {
                    last.content.push('\n');
                    last.content.push_str(&text);
                }
                _ => messages.push(ChatMessage::new(role, text)),
            }
        }
        messages
    }

    fn role(&self, role: Role) -> ChatRole {
        match (role, self.settings.tool_role.unwrap_or_default()) {
            (Role::System, _) => ChatRole::System,
            (Role::Policy, _) => ChatRole::Assistant,
            (Role::Tool, ToolRole::Tool) => ChatRole::Tool,
            (Role::Tool | Role::User | Role::Environment | Role::Hint, _) => ChatRole::User,
        }
    }

    pub(super) fn completion(
        &self,
        request: &SampleRequest,
        answer: Answer,
    ) -> Result<Completion, SamplerError> {
        let language = self.language(request)?;
        if language.is_none() && (answer.finish == Finish::ToolCalls || !answer.tool_calls.is_empty()) {
            return broken(
                "the server read tool calls out of the answer, and the world reads text; say `calls = \"native\"` \
                 (--native-tools), or turn the server's tool parser off",
            );
        }
        match &answer.finish {
            Finish::Stop | Finish::Length | Finish::ToolCalls => {}
            Finish::ContentFilter => return broken("the server's filter took the answer away"),
            Finish::Other(reason) => {
                return broken(format!("the answer ended for a reason of its own: `{reason}`"));
            }
        }
        match self.settings.tokens {
            TokenSource::Text => {
                let text = match language {
                    Some(language) if !answer.tool_calls.is_empty() => native::spoken(language, &answer),
                    // A refusal is what the model says, wherever the server puts it.
                    _ if answer.text.is_empty() => answer.refusal.clone(),
                    _ => answer.text.clone(),
                };
                Ok(self.encoded(request, &answer, &text))
            }
            TokenSource::Server => self.told(request, answer),
        }
    }

    /// The text in our own tokens, whole. The server was told the limits and counts by its own tokenizer: an answer that ended by
    /// itself is not cut.
    fn encoded(&self, request: &SampleRequest, answer: &Answer, text: &str) -> Completion {
        let said = self.chat.say(text, &request.params.stop);
        let mut tokens = said.tokens;
        let mut stop = if said.stop_string { StopReason::StopString } else { StopReason::StopToken };
        if answer.finish == Finish::Length && !said.stop_string {
            // It was cut, so the end was not said.
            tokens.pop();
            stop = self.cut_by(request);
        }
        let (logprobs, values, top_logprobs) = (Vec::new(), Vec::new(), Vec::new());
        let counted = answer.usage.map_or(Counted::Nobody, |usage| Counted::Server(usage.completion_tokens));
        Completion { session: request.session, tokens, logprobs, values, top_logprobs, stop, counted }
    }

    /// The tokens that the server drew, up to where the turn ends.
    fn told(&self, request: &SampleRequest, answer: Answer) -> Result<Completion, SamplerError> {
        self.check_prompt(request, answer.prompt_tokens.as_deref())?;
        let (Some(mut tokens), Some(scores)) = (answer.tokens, answer.logprobs) else {
            return broken("the server told no token ids or no log-probabilities");
        };
        let mut logprobs: Vec<f32> = scores.iter().map(|score| score.logprob).collect();
        let mut top_logprobs = alternatives(&scores, request.params.top_logprobs)?;
        let vocab = self.chat.tokenizer().vocab_len();
        if let Some(token) = tokens.iter().find(|token| token.0 as usize >= vocab) {
            return Err(SamplerError::UnknownToken { token: token.0, vocab });
        }
        let most = request.params.max_tokens.min(self.room(request));
        let stop = match self.end_of_turn(&tokens, &request.params) {
            Some((length, stop)) if length <= most => {
                tokens.truncate(length);
                stop
            }
            None if answer.finish == Finish::Stop && tokens.len() < most => {
                return broken(
                    "the server left out the token that ends the turn, so how likely the end was is unknown; a server for \
                     `tokens = \"server\"` must tell every token it draws",
                );
            }
            _ => self.cut_by(request),
        };
        tokens.truncate(most);
        logprobs.truncate(tokens.len());
        top_logprobs.truncate(tokens.len());
        let (session, values) = (request.session, Vec::new());
        Ok(Completion { session, tokens, logprobs, values, top_logprobs, stop, counted: Counted::Here })
    }

    /// What the server read must be the record's own tokens, or the log-probabilities belong to another context.
    fn check_prompt(&self, request: &SampleRequest, read: Option<&[TokenId]>) -> Result<(), SamplerError> {
        let Some(read) = read else {
            return match self.settings.prompt_form() {
                PromptForm::Tokens => Ok(()),
                PromptForm::Messages => {
                    broken("the server does not tell which tokens it read; say `prompt = \"tokens\"`")
                }
            };
        };
        let ours = &request.context;
        if read == ours {
            return Ok(());
        }
        let at = read.iter().zip(ours).position(|(theirs, ours)| theirs != ours);
        let at = at.unwrap_or(read.len().min(ours.len()));
        let (theirs, ours) = (read.len(), ours.len());
        broken(format!(
            "the server read {theirs} tokens where the record has {ours}, different from place {at} on; say `prompt = \"tokens\"`, \
             and check that server and policy share their tokenizer"
        ))
    }

    /// Where the turn ends: behind the first stop token, or behind the token that completes a stop string before it.
    fn end_of_turn(&self, tokens: &[TokenId], params: &SamplingParams) -> Option<(usize, StopReason)> {
        let end = tokens.iter().position(|token| params.stop_tokens.contains(token)).map(|at| at + 1);
        let most = end.unwrap_or(tokens.len());
        let stopped = |length: usize| {
            let text = self.chat.spoken(&tokens[..length], &[]);
            params.stop.iter().any(|stop| !stop.is_empty() && text.contains(stop.as_str()))
        };
        if !stopped(most) {
            return end.map(|length| (length, StopReason::StopToken));
        }
        let (mut without, mut with) = (0, most);
        while with - without > 1 {
            let middle = without.midpoint(with);
            if stopped(middle) { with = middle } else { without = middle }
        }
        Some((with, StopReason::StopString))
    }

    fn cut_by(&self, request: &SampleRequest) -> StopReason {
        if self.room(request) < request.params.max_tokens {
            StopReason::ContextFull
        } else {
            StopReason::MaxTokens
        }
    }
}

/// The `most` likeliest tokens at each place, likeliest first.
fn alternatives(scores: &[TokenScore], most: usize) -> Result<Vec<Vec<TokenLogprob>>, SamplerError> {
    if most == 0 {
        return Ok(Vec::new());
    }
    let of_place = |score: &TokenScore| {
        let named =
            score.top.iter().map(|other| Some(TokenLogprob { token: other.id?, logprob: other.logprob }));
        let mut named = named.collect::<Option<Vec<TokenLogprob>>>()?;
        named.sort_by(|a, b| b.logprob.total_cmp(&a.logprob));
        named.truncate(most);
        (named.len() == most).then_some(named)
    };
    match scores.iter().map(of_place).collect() {
        Some(places) => Ok(places),
        None => broken("the server told fewer alternatives than were asked for, or not their token ids"),
    }
}

fn broken<T>(why: impl Into<String>) -> Result<T, SamplerError> {
    Err(SamplerError::Failed(why.into()))
}
