//! An answer as it comes together, from one piece or from many.
//!
//! In: the whole answer, or the chunks of a stream in order. Out: an [`Answer`] that holds what was asked for. Chat and plain
//! completions go through the same reader: they differ in where the text stands and how log-probabilities are laid out.

use crate::answer::{Answer, Finish, Piece, TokenScore, Usage};
use crate::field::{At, BadField};
use crate::message::FunctionCall;
use crate::request::Wants;
use crate::scores::{read_scores, tokens_of};
use crate::usage;
use merit_core::TokenId;
use serde_json::Value;

/// The most calls of one answer: a wrong index must not make us hold millions of empty ones.
const MOST_CALLS: u64 = 1024;

/// What has come so far.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    text: String,
    reasoning: String,
    refusal: String,
    calls: Vec<FunctionCall>,
    finish: Option<Finish>,
    stopped_by: Option<String>,
    stopped_at: Option<TokenId>,
    tokens: Option<Vec<TokenId>>,
    prompt_tokens: Option<Vec<TokenId>>,
    scores: Option<Vec<TokenScore>>,
    usage: Option<Usage>,
    model: String,
    pieces: usize,
}

impl Draft {
    /// How many pieces brought something.
    pub(crate) fn pieces(&self) -> usize {
        self.pieces
    }

    /// Whether a reason for the end has come.
    pub(crate) fn has_ended(&self) -> bool {
        self.finish.is_some()
    }

    /// Takes the whole answer, or the next chunk of it. What is new of the text is returned.
    pub(crate) fn take(&mut self, value: &Value) -> Result<Vec<Piece>, BadField> {
        let top = At::top("the answer", value);
        if let Some(model) = top.get("model") {
            self.model = model.text()?.to_owned();
        }
        self.usage = usage::read(&top)?.or(self.usage);
        self.take_prompt_tokens(&top)?;
        let choices = top.need("choices")?;
        let mut news = Vec::new();
        for choice in choices.list()? {
            if let Some(index) = choice.get("index")
                && index.count()? != 0
            {
                return Err(BadField(format!("{index} is {}, but one answer was asked for", index.value)));
            }
            news.extend(self.take_choice(&choice)?);
        }
        Ok(news)
    }

    fn take_choice(&mut self, choice: &At<'_>) -> Result<Vec<Piece>, BadField> {
        let (from, grown) = ((self.text.len(), self.reasoning.len()), self.calls.len());
        let speech = choice.get("message").or_else(|| choice.get("delta"));
        if let Some(speech) = &speech {
            self.take_speech(speech)?;
        }
        if let Some(text) = choice.get("text") {
            self.text.push_str(text.text()?);
        }
        self.take_prompt_tokens(choice)?;
        for place in [Some(choice), speech.as_ref()].into_iter().flatten() {
            if let Some(ids) = read_tokens(place)? {
                self.tokens.get_or_insert_default().extend(ids);
            }
        }
        if let Some(scores) = choice.get("logprobs") {
            self.scores.get_or_insert_default().extend(read_scores(&scores)?);
        }
        if let Some(finish) = choice.get("finish_reason") {
            self.finish = Some(Finish::parse(finish.text()?));
        }
        // vLLM and SGLang say which stop was met; a number is a token.
        let met = choice.get("stop_reason").or_else(|| choice.get("matched_stop"));
        match met {
            Some(met) if met.value.is_string() => self.stopped_by = Some(met.text()?.to_owned()),
            Some(met) => self.stopped_at = met.token().ok(),
            None => {}
        }
        let news = self.news_since(from);
        self.pieces += usize::from(!news.is_empty() || self.calls.len() > grown);
        Ok(news)
    }

    fn news_since(&self, (text, reasoning): (usize, usize)) -> Vec<Piece> {
        let said = self.text.get(text..).filter(|new| !new.is_empty()).map(|new| Piece::Text(new.to_owned()));
        let thought = self.reasoning.get(reasoning..).filter(|new| !new.is_empty());
        thought.map(|new| Piece::Reasoning(new.to_owned())).into_iter().chain(said).collect()
    }

    fn take_speech(&mut self, speech: &At<'_>) -> Result<(), BadField> {
        if let Some(content) = speech.get("content") {
            push_content(&mut self.text, &content)?;
        }
        // A server that is renaming the field sends both, so only the first that says something is read.
        let thoughts = ["reasoning_content", "reasoning", "thinking"].map(|name| speech.get(name));
        if let Some(thought) = thoughts.iter().flatten().find(|thought| thought.value != "") {
            self.reasoning.push_str(thought.text()?);
        }
        if let Some(refusal) = speech.get("refusal") {
            self.refusal.push_str(refusal.text()?);
        }
        let Some(calls) = speech.get("tool_calls") else { return Ok(()) };
        for (place, call) in calls.list()?.enumerate() {
            self.take_call(place, &call)?;
        }
        Ok(())
    }

    /// A call, or the next piece of one: pieces of the same call have the same index.
    fn take_call(&mut self, place: usize, call: &At<'_>) -> Result<(), BadField> {
        let index = match call.get("index") {
            Some(index) if index.count()? < MOST_CALLS => index.count()? as usize,
            Some(index) => return Err(index.is_not("the number of a call")),
            None => place,
        };
        while self.calls.len() <= index {
            self.calls.push(FunctionCall {
                id: String::new(),
                name: String::new(),
                arguments: String::new(),
            });
        }
        let held = &mut self.calls[index];
        if let Some(id) = call.get("id")
            && held.id.is_empty()
        {
            held.id = id.text()?.to_owned();
        }
        let Some(function) = call.get("function") else { return Ok(()) };
        if let Some(name) = function.get("name") {
            // Some servers repeat the whole name with every piece.
            let name = name.text()?;
            if held.name != name {
                held.name.push_str(name);
            }
        }
        if let Some(arguments) = function.get("arguments") {
            match arguments.value {
                // Some servers send the object instead of its text.
                Value::Object(_) => held.arguments.push_str(&arguments.value.to_string()),
                _ => held.arguments.push_str(arguments.text()?),
            }
        }
        Ok(())
    }

    fn take_prompt_tokens(&mut self, place: &At<'_>) -> Result<(), BadField> {
        if let Some(ids) = place.get("prompt_token_ids") {
            self.prompt_tokens = Some(tokens_of(&ids)?);
        }
        Ok(())
    }

    /// Ends the text at the first of `stops`, where it has come to one. Tokens stay: which of them made the stop, only somebody
    /// with the vocabulary can tell.
    pub(crate) fn stop_at(&mut self, stops: &[String]) -> bool {
        let ends = stops.iter().filter_map(|stop| Some((self.text.find(stop.as_str())? + stop.len(), stop)));
        let Some((end, stop)) = ends.min_by_key(|(end, _)| *end) else { return false };
        self.text.truncate(end);
        self.stopped_by = Some(stop.clone());
        self.finish = Some(Finish::Stop);
        true
    }

    /// The answer, if it holds what was asked for.
    pub(crate) fn finished(mut self, wants: Wants) -> Result<Answer, BadField> {
        let lacks = |what: &str| BadField(format!("it has no {what}, though they were asked for"));
        let finish =
            self.finish.take().ok_or_else(|| BadField("choices[0] has no `finish_reason`".to_owned()))?;
        if let Some(at) = self.calls.iter().position(|call| call.name.is_empty()) {
            return Err(BadField(format!("choices[0].message.tool_calls[{at}].function has no `name`")));
        }
        let said = [&self.text, &self.reasoning, &self.refusal];
        let nothing_drawn = self.calls.is_empty() && said.iter().all(|said| said.is_empty());
        if wants.logprobs && self.scores.is_none() {
            self.scores = if nothing_drawn { Some(Vec::new()) } else { return Err(lacks("`logprobs`")) };
        }
        if self.tokens.is_none() {
            self.tokens =
                self.scores.as_ref().and_then(|scores| scores.iter().map(|score| score.id).collect());
        }
        if wants.token_ids && self.tokens.is_none() {
            return Err(lacks("token ids"));
        }
        if let (Some(tokens), Some(scores)) = (&self.tokens, &self.scores)
            && tokens.len() != scores.len()
        {
            let (ids, scores) = (tokens.len(), scores.len());
            return Err(BadField(format!("it has {ids} token ids but {scores} log-probabilities")));
        }
        Ok(Answer {
            text: self.text,
            reasoning: self.reasoning,
            refusal: self.refusal,
            tool_calls: self.calls,
            finish,
            stopped_by: self.stopped_by,
            stopped_at: self.stopped_at,
            tokens: self.tokens,
            prompt_tokens: self.prompt_tokens,
            logprobs: self.scores,
            usage: self.usage,
            model: self.model,
        })
    }
}

/// Text, or a list of parts that are text.
fn push_content(text: &mut String, content: &At<'_>) -> Result<(), BadField> {
    if !content.value.is_array() {
        text.push_str(content.text()?);
        return Ok(());
    }
    for part in content.list()? {
        text.push_str(part.need("text")?.text()?);
    }
    Ok(())
}

/// The ids of the tokens drawn, by the names that servers have for them.
fn read_tokens(place: &At<'_>) -> Result<Option<Vec<TokenId>>, BadField> {
    for name in ["token_ids", "response_token_ids", "tokens"] {
        if let Some(ids) = place.get(name) {
            return tokens_of(&ids).map(Some);
        }
    }
    Ok(None)
}
