//! What is asked for beside the conversation: how to draw, when to stop, what to tell about the tokens.

use crate::EndpointError;
use crate::server::{Server, Way};
use merit_core::TokenId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// How an answer is drawn and what comes with it. What is absent is left to the server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Logits are divided by this.
    pub temperature: Option<f32>,
    /// Draw only from the likeliest tokens that together have this probability.
    pub top_p: Option<f32>,
    /// Draw only from this many of the likeliest tokens.
    pub top_k: Option<u32>,
    /// Draw only tokens at least this share as likely as the likeliest.
    pub min_p: Option<f32>,
    /// Switches off the cuts and penalties that servers have by default (vLLM and SGLang take them from the model's files,
    /// llama.cpp has its own), so that only what is said here changes the model's own distribution.
    pub exact: bool,
    /// Most tokens of the answer.
    pub max_tokens: Option<usize>,
    /// Texts that end the answer; the one that did is kept at its end.
    pub stop: Vec<String>,
    /// Tokens that end the answer.
    pub stop_tokens: Vec<TokenId>,
    /// The server's own source of randomness.
    pub seed: Option<u64>,
    /// Log-probabilities of the tokens drawn and of this many alternatives.
    pub logprobs: Option<u32>,
    /// Ids of the tokens read and drawn.
    pub token_ids: bool,
    /// Which tool to call, in the protocol's own form. Only with tools.
    pub tool_choice: Option<Value>,
    /// Whether several tools may be called at once. Only with tools; not every server obeys.
    pub parallel_tool_calls: Option<bool>,
    /// The shape of the answer, in the protocol's own form.
    pub response_format: Option<Value>,
    /// Which of several answers to the same request this is. Never sent: it only tells kept answers apart.
    pub sample: u64,
}

impl Params {
    /// Writes everything that `server` understands into `body`; the stops that have to be looked for on our side are returned.
    pub(crate) fn write(
        &self,
        server: Server,
        way: Way,
        max_tokens_field: &str,
        body: &mut Map<String, Value>,
    ) -> Result<Vec<String>, EndpointError> {
        self.check()?;
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                body.insert(name.to_owned(), value);
            }
        };
        put("temperature", self.temperature.map(decimal));
        put(max_tokens_field, self.max_tokens.map(|most| json!(most)));
        put("seed", self.seed.map(|seed| json!(seed)));
        put("response_format", self.response_format.clone());
        if self.exact {
            for (name, value) in server.neutral_fields() {
                put(name, Some(value));
            }
        }
        put("top_p", self.top_p.map(decimal));
        if self.top_k.is_some() || self.min_p.is_some() {
            require(server, server.cuts_by_rank(), "knows neither `top_k` nor `min_p`; leave them out")?;
            put("top_k", self.top_k.map(|most| json!(most)));
            put("min_p", self.min_p.map(decimal));
        }
        if !self.stop_tokens.is_empty() {
            require(server, server.stops_at_tokens(), "cannot stop at token ids; use stop texts")?;
            put("stop_token_ids", Some(json!(self.stop_tokens)));
        }
        for (name, value) in self.about_tokens(server, way)? {
            put(name, Some(value));
        }
        match server.keep_stop_field() {
            Some(keep) if !self.stop.is_empty() => {
                put("stop", Some(json!(self.stop)));
                put(keep, Some(json!(true)));
                Ok(Vec::new())
            }
            _ => Ok(self.stop.clone()),
        }
    }

    fn about_tokens(&self, server: Server, way: Way) -> Result<Vec<(&'static str, Value)>, EndpointError> {
        let mut fields = Vec::new();
        if self.token_ids {
            let advice = "does not tell token ids; name the server's kind in `server`, or do without";
            require(server, server.gives_token_ids(), advice)?;
            fields.extend(server.token_ids_field().map(|name| (name, json!(true))));
        }
        // llama.cpp tells the ids beside the log-probabilities.
        let told_beside = self.token_ids && server == Server::LlamaCpp;
        match (self.logprobs.or(told_beside.then_some(0)), way) {
            (None, _) => {}
            (Some(most), Way::Chat) => {
                fields.push(("logprobs", json!(true)));
                fields.push(("top_logprobs", json!(most)));
            }
            (Some(most), Way::Text) => {
                fields.push(("logprobs", json!(most.max(server.least_alternatives()))));
            }
        }
        Ok(fields)
    }

    fn check(&self) -> Result<(), EndpointError> {
        let rules = [
            ("temperature", self.temperature.is_none_or(|t| t.is_finite() && t >= 0.0), "0 or more"),
            ("top_p", self.top_p.is_none_or(|p| p > 0.0 && p <= 1.0), "above 0 and at most 1"),
            ("min_p", self.min_p.is_none_or(|p| (0.0..=1.0).contains(&p)), "between 0 and 1"),
            ("top_k", self.top_k != Some(0), "at least 1; leave it out to draw from all"),
            ("max_tokens", self.max_tokens != Some(0), "at least 1"),
            ("stop", self.stop.iter().all(|stop| !stop.is_empty()), "without empty texts"),
        ];
        match rules.into_iter().find(|(_, holds, _)| !holds) {
            Some((name, _, range)) => Err(EndpointError::Config(format!("`{name}` must be {range}"))),
            None => Ok(()),
        }
    }
}

/// Fails unless the server can.
pub(crate) fn require(server: Server, can: bool, what: &str) -> Result<(), EndpointError> {
    if can {
        return Ok(());
    }
    Err(EndpointError::Unsupported { server: server.name(), what: what.to_owned() })
}

/// The number as a person would write it: 0.7, not 0.699999988079071.
fn decimal(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, |number| json!(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(params: &Params, server: Server, way: Way) -> Result<(Value, Vec<String>), EndpointError> {
        let mut body = Map::new();
        let stops = params.write(server, way, "max_tokens", &mut body)?;
        Ok((Value::Object(body), stops))
    }

    fn check(params: Params, server: Server, way: Way, body: Value, own_stops: &[&str]) {
        let (got, stops) = written(&params, server, way).unwrap();
        assert_eq!((got, stops), (body, own_stops.iter().map(|&stop| stop.to_owned()).collect()));
    }

    #[test]
    fn every_server_is_asked_in_its_own_words() {
        use Server::{LlamaCpp, Openai, Sglang, Vllm};
        let plain =
            Params { temperature: Some(0.7), max_tokens: Some(5), seed: Some(3), ..Params::default() };
        let body = json!({ "temperature": 0.7, "max_tokens": 5, "seed": 3 });
        check(plain, Openai, Way::Chat, body, &[]);

        let stop = Params { stop: vec!["\n".into()], ..Params::default() };
        check(stop.clone(), Openai, Way::Chat, json!({}), &["\n"]);
        check(stop.clone(), LlamaCpp, Way::Text, json!({}), &["\n"]);
        check(
            stop.clone(),
            Vllm,
            Way::Chat,
            json!({ "stop": ["\n"], "include_stop_str_in_output": true }),
            &[],
        );
        check(stop, Sglang, Way::Chat, json!({ "stop": ["\n"], "no_stop_trim": true }), &[]);

        let tokens = Params { logprobs: Some(2), token_ids: true, ..Params::default() };
        let vllm = json!({ "logprobs": true, "top_logprobs": 2, "return_token_ids": true });
        check(tokens.clone(), Vllm, Way::Chat, vllm, &[]);
        check(tokens, Vllm, Way::Text, json!({ "logprobs": 2, "return_token_ids": true }), &[]);
        let ids = Params { token_ids: true, ..Params::default() };
        let llama = json!({ "logprobs": 1, "return_tokens": true });
        check(ids, LlamaCpp, Way::Text, llama, &[]);

        let cuts =
            Params { top_k: Some(20), min_p: Some(0.05), stop_tokens: vec![TokenId(2)], ..Params::default() };
        check(cuts, Vllm, Way::Chat, json!({ "top_k": 20, "min_p": 0.05, "stop_token_ids": [2] }), &[]);
    }

    #[test]
    fn an_exact_request_switches_off_what_servers_do_by_default() {
        let exact = Params { exact: true, ..Params::default() };
        let cut = Params { top_k: Some(9), ..exact.clone() };
        let penalised = json!({ "top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0 });
        check(exact.clone(), Server::Vllm, Way::Chat, penalised, &[]);
        check(exact.clone(), Server::Openai, Way::Chat, json!({ "top_p": 1.0 }), &[]);
        check(exact, Server::LlamaCpp, Way::Chat, json!({ "top_p": 1.0, "top_k": -1, "min_p": 0.0 }), &[]);
        check(cut, Server::LlamaCpp, Way::Chat, json!({ "top_p": 1.0, "top_k": 9, "min_p": 0.0 }), &[]);
    }

    #[test]
    fn what_a_server_cannot_do_is_refused_before_it_is_asked() {
        let cases = [
            (Params { top_k: Some(5), ..Params::default() }, Server::Openai, "top_k"),
            (Params { token_ids: true, ..Params::default() }, Server::Openai, "token ids"),
            (
                Params { stop_tokens: vec![TokenId(1)], ..Params::default() },
                Server::LlamaCpp,
                "stop at token ids",
            ),
            (Params { temperature: Some(f32::NAN), ..Params::default() }, Server::Vllm, "temperature"),
            (Params { top_p: Some(0.0), ..Params::default() }, Server::Vllm, "top_p"),
            (Params { max_tokens: Some(0), ..Params::default() }, Server::Vllm, "max_tokens"),
            (Params { stop: vec![String::new()], ..Params::default() }, Server::Vllm, "stop"),
        ];
        for (params, server, says) in cases {
            let error = written(&params, server, Way::Chat).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
