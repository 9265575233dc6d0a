//! From a line to the samples it asks for: context, parameters, seeds. Pure, but for what is kept to be quick.

use super::conversation::{Conversations, LaidOut};
use super::feed::InputLine;
use super::grammar::Grammars;
use super::line::{Line, Refusal, RefusalKind};
use merit_core::{Seed, TokenId};
use merit_model::{Generator, LanguageModel, Sampler as _, SamplingParams};
use merit_text::GrammarSource;
use merit_verify::records::words;
use serde_json::Value;
use std::sync::Arc;

/// Most completions of one line.
const MOST_SAMPLES: u64 = 1024;

/// Makes plans of lines.
pub(super) struct Planner<'a> {
    model: &'a LanguageModel,
    conversations: Conversations<'a>,
    grammars: Grammars<'a>,
    defaults: SamplingParams,
    seed: Seed,
    vocab: usize,
    limit: usize,
}

/// What a line asks for.
pub(super) struct Plan {
    pub(super) context: Vec<TokenId>,
    pub(super) params: Arc<SamplingParams>,
    /// One per completion.
    pub(super) seeds: Vec<Seed>,
    /// Whether log-probabilities are told.
    pub(super) logprobs: bool,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        model: &'a LanguageModel,
        generator: &Generator,
        defaults: SamplingParams,
        seed: u64,
    ) -> Self {
        Self {
            model,
            conversations: Conversations::new(model),
            grammars: Grammars::new(model),
            defaults,
            seed: Seed::root(seed),
            vocab: generator.packed().config().vocab,
            limit: generator.context_limit(),
        }
    }

    pub(super) fn model(&self) -> &'a LanguageModel {
        self.model
    }

    /// The line's own `id`, where it has one that can be read, and its plan.
    pub(super) fn plan(&mut self, input: &InputLine) -> (Option<Value>, Result<Plan, Refusal>) {
        let wrong = |message: String| Refusal::new(RefusalKind::Line, message);
        let Some(text) = &input.text else {
            return (None, Err(wrong("the line is too long to be a request".to_owned())));
        };
        match serde_json::from_slice::<Line>(text) {
            Ok(mut line) => (line.id.take(), self.of_line(input.number, &line)),
            Err(error) => (None, Err(wrong(words(&error)))),
        }
    }

    fn of_line(&mut self, number: u64, line: &Line) -> Result<Plan, Refusal> {
        let wrong = |message: String| Refusal::new(RefusalKind::Line, message);
        let samples = line.n.unwrap_or(1);
        if !(1..=MOST_SAMPLES).contains(&samples) {
            return Err(wrong(format!("`n` is {samples}; give 1 to {MOST_SAMPLES}")));
        }
        let LaidOut { context, ends } = self.context(line)?;
        let (got, limit) = (context.len(), self.limit);
        if got >= limit {
            let message =
                format!("the prompt has {got} tokens, and prompt and answer together {limit} at most");
            return Err(Refusal::new(RefusalKind::Context, message));
        }
        let params = self.params(line, ends)?;
        let base = line.seed.map_or_else(|| self.seed.child("line", number), Seed::root);
        let seeds = (0..samples).map(|sample| base.child("sample", sample)).collect();
        Ok(Plan { context, params: Arc::new(params), seeds, logprobs: line.logprobs.is_some() })
    }

    fn context(&mut self, line: &Line) -> Result<LaidOut, Refusal> {
        let wrong = |message: &str| Err(Refusal::new(RefusalKind::Line, message));
        match (&line.prompt, &line.messages) {
            (Some(_), Some(_)) => wrong("it has both `prompt` and `messages`; give one of them"),
            (None, None) => wrong("it has neither `prompt` nor `messages`"),
            (Some(_), None) if !line.tools.is_empty() => {
                wrong("`tools` go with `messages`, not with `prompt`")
            }
            (None, Some(messages)) => self.conversations.lay_out(messages, &line.tools),
            (Some(prompt), None) => {
                let context = self.model.tokenizer().encode_framed(prompt);
                if context.is_empty() {
                    return wrong(
                        "`prompt` has no tokens, and the model none to begin with; write something",
                    );
                }
                Ok(LaidOut { context, ends: self.model.ends().to_vec() })
            }
        }
    }

    fn params(&mut self, line: &Line, ends: Vec<TokenId>) -> Result<SamplingParams, Refusal> {
        let source = match (&line.json_schema, &line.regex) {
            (Some(_), Some(_)) => {
                let message = "it has both `json_schema` and `regex`; give one of them";
                return Err(Refusal::new(RefusalKind::Line, message));
            }
            (Some(schema), None) => Some(GrammarSource::JsonSchema(schema.clone())),
            (None, Some(regex)) => Some(GrammarSource::Regex(regex.clone())),
            (None, None) => None,
        };
        let usual = &self.defaults;
        let params = SamplingParams {
            temperature: line.temperature.unwrap_or(usual.temperature),
            top_k: line.top_k.unwrap_or(usual.top_k),
            top_p: line.top_p.unwrap_or(usual.top_p),
            min_p: line.min_p.unwrap_or(usual.min_p),
            max_tokens: line.max_tokens.unwrap_or(usual.max_tokens),
            top_logprobs: line.logprobs.unwrap_or(0),
            stop: line.stop.clone(),
            stop_tokens: ends,
            constraint: source.map(|source| self.grammars.constraint(&source)).transpose()?,
            ..usual.clone()
        };
        let wrong = |message: String| Refusal::new(RefusalKind::Params, message);
        if params.max_tokens == 0 {
            return Err(wrong("max_tokens is 0; give at least 1".to_owned()));
        }
        if params.stop.iter().any(String::is_empty) {
            return Err(wrong("a text in `stop` is empty".to_owned()));
        }
        params.check(self.vocab).map_err(wrong)?;
        Ok(params)
    }
}
