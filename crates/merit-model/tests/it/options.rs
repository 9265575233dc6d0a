//! Cuts, masks, constraints and watching, as a whole sampler does them.

use crate::support::*;
use merit_core::TokenId;
use merit_model::*;
use merit_text::{GrammarFactory, GrammarSource};
use std::sync::{Arc, Mutex};

fn said(weights: &Arc<Weights>, context: &[TokenId], params: SamplingParams) -> Completion {
    sample(&mut generator(weights, 2, 1), vec![request(1, context, params)]).remove(0)
}

fn digits() -> Vec<TokenId> {
    let tokenizer = bytes_only();
    (0..tokenizer.vocab_len() as u32)
        .map(TokenId)
        .filter(|&token| matches!(tokenizer.bytes(token), [b'0'..=b'9']))
        .collect()
}

/// A number of so many digits; breaks after `breaks` tokens.
struct Digits {
    left: usize,
    breaks: usize,
}

impl Constraint for Digits {
    fn mask(&mut self, allowed: &mut TokenMask) -> Result<(), String> {
        if self.left > 0 {
            digits().into_iter().for_each(|token| allowed.allow(token));
        }
        Ok(())
    }

    fn advance(&mut self, token: TokenId) -> Result<(), String> {
        assert!(digits().contains(&token), "only what was allowed is drawn");
        if self.breaks == 0 {
            return Err("broken on purpose".into());
        }
        (self.left, self.breaks) = (self.left - 1, self.breaks - 1);
        Ok(())
    }

    fn may_stop(&mut self) -> Result<bool, String> {
        Ok(self.left == 0)
    }
}

fn a_number(left: usize, breaks: usize) -> Option<ConstraintSource> {
    Some(ConstraintSource::new(move || Box::new(Digits { left, breaks })))
}

#[test]
fn whatever_the_options_logprobs_have_the_bits_of_training_on_any_threads() {
    let config = even();
    let weights = weights(&config);
    let banned: Vec<TokenId> = (0..100).map(TokenId).collect();
    let logit_bias = vec![(TokenId(150), 3.0), (TokenId(7), 50.0)];
    let variants = [
        SamplingParams { top_k: 5, ..at(0.8, 30) },
        SamplingParams { min_p: 0.3, top_p: 0.9, ..at(0.8, 30) },
        SamplingParams { banned: banned.clone(), logit_bias, top_logprobs: 3, ..at(0.8, 30) },
        SamplingParams { allowed: banned, top_k: 20, top_p: 0.8, min_p: 0.01, ..at(0.8, 30) },
        SamplingParams { constraint: a_number(30, 99), ..at(0.8, 30) },
    ];
    let contexts: Vec<_> = (0..5).map(|i| prompt(&config, i, 20)).collect();
    let asked: Vec<_> = (0..)
        .zip(variants)
        .zip(&contexts)
        .map(|((i, params), context)| request(i, context, params))
        .collect();
    let once = sample(&mut generator(&weights, 5, 1), asked.clone());
    for (context, said) in contexts.iter().zip(&once) {
        assert_eq!(said.tokens.len(), 30);
        assert_eq!(bits(&said.logprobs), bits(&trained(&weights, context, said, 0.8).0));
    }
    assert!(once[2].tokens.iter().all(|token| token.0 >= 100), "banned, whatever the bias");
    assert!(once[3].tokens.iter().all(|token| token.0 < 100));
    assert!(once[4].tokens.iter().all(|token| digits().contains(token)));
    for (batch, threads) in [(1, 2), (2, 3), (64, 2)] {
        assert_eq!(sample(&mut generator(&weights, batch, threads), asked.clone()), once);
    }
}

#[test]
fn one_token_to_choose_from_is_the_greedy_choice() {
    let config = even();
    let weights = weights(&config);
    let context = prompt(&config, 7, 25);
    let greedy = said(&weights, &context, at(0.0, 30));
    assert_eq!(said(&weights, &context, SamplingParams { top_k: 1, ..at(1.0, 30) }), greedy);
    assert_eq!(said(&weights, &context, SamplingParams { min_p: 1.0, ..at(1.0, 30) }), greedy);
}

#[test]
fn the_likeliest_tokens_are_reported_beside_the_chosen_one() {
    let config = even();
    let weights = weights(&config);
    let context = prompt(&config, 8, 25);
    let plain = said(&weights, &context, at(0.7, 20));
    let told = said(&weights, &context, SamplingParams { top_logprobs: 320, ..at(0.7, 20) });
    assert_eq!((&told.tokens, &told.logprobs), (&plain.tokens, &plain.logprobs));
    assert!(plain.top_logprobs.is_empty());
    assert_eq!(told.top_logprobs.len(), 20);
    for (i, likeliest) in told.top_logprobs.iter().enumerate() {
        assert!(likeliest.is_sorted_by(|a, b| a.logprob >= b.logprob));
        let total: f32 = likeliest.iter().map(|entry| entry.logprob.exp()).sum();
        assert!((total - 1.0).abs() < 1e-4);
        let own = likeliest.iter().find(|entry| entry.token == told.tokens[i]).unwrap();
        assert_eq!(own.logprob.to_bits(), told.logprobs[i].to_bits());
    }
}

#[test]
fn a_constraint_ends_a_completion_with_a_stop_token_or_by_itself() {
    let config = even();
    let weights = weights(&config);
    let context = prompt(&config, 9, 12);
    let stop = TokenId(300);
    let met = said(&weights, &context, SamplingParams { constraint: a_number(3, 99), ..at(1.0, 50) });
    assert_eq!((met.stop, met.tokens.len()), (StopReason::ConstraintMet, 3));
    let params = SamplingParams { constraint: a_number(3, 99), stop_tokens: vec![stop], ..at(1.0, 50) };
    let stopped = said(&weights, &context, params);
    assert_eq!((stopped.stop, stopped.tokens.len()), (StopReason::StopToken, 4));
    assert_eq!(stopped.tokens[..3], met.tokens[..]);
    assert_eq!(stopped.tokens[3], stop);
    let cut = said(&weights, &context, SamplingParams { constraint: a_number(30, 99), ..at(1.0, 5) });
    assert_eq!((cut.stop, cut.tokens.len()), (StopReason::MaxTokens, 5));
}

#[test]
fn a_grammar_is_kept_to_whether_or_not_a_token_ends_it() {
    let config = even();
    let weights = weights(&config);
    let tokenizer = bytes_only();
    let end = tokenizer.special("<|end|>").unwrap();
    let factory = GrammarFactory::new(&tokenizer, &[end]).unwrap();
    let regex = GrammarSource::Regex("[0-9]{3}-(yes|no)".into());
    let constraint = Some(grammar_constraint(factory.compile(&regex).unwrap()));
    for (seed, stop_tokens) in (0..).zip([vec![], vec![end], vec![], vec![end]]) {
        let ends = !stop_tokens.is_empty();
        let params = SamplingParams { constraint: constraint.clone(), stop_tokens, ..at(3.0, 50) };
        let said = said(&weights, &prompt(&config, seed, 12), params);
        assert_eq!(said.stop, if ends { StopReason::StopToken } else { StopReason::ConstraintMet });
        let text =
            String::from_utf8(tokenizer.decode_bytes(&said.tokens[..said.tokens.len() - usize::from(ends)]))
                .unwrap();
        let (number, word) = text.split_once('-').unwrap();
        assert!(number.len() == 3 && number.bytes().all(|b| b.is_ascii_digit()), "{text}");
        assert!(["yes", "no"].contains(&word), "{text}");
    }
}

#[test]
fn a_constraint_that_fails_fails_its_session_alone() {
    let config = even();
    let weights = weights(&config);
    let mut sampler = generator(&weights, 8, 1);
    let context = prompt(&config, 9, 12);
    let banned = digits();
    sampler.submit(request(0, &context, at(1.0, 6)));
    sampler.submit(request(1, &context, SamplingParams { constraint: a_number(9, 2), ..at(1.0, 6) }));
    sampler.submit(request(
        2,
        &context,
        SamplingParams { constraint: a_number(9, 99), banned, ..at(1.0, 6) },
    ));
    let banned = vec![TokenId(320)];
    sampler.submit(request(3, &context, SamplingParams { banned, ..at(1.0, 6) }));
    let answers: Vec<_> = drain(&mut sampler).into_iter().map(|answer| answer.result).collect();
    assert_eq!(answers[0].as_ref().unwrap().tokens.len(), 6);
    assert_eq!(answers[1], Err(SamplerError::Constraint("broken on purpose".into())));
    assert_eq!(answers[2], Err(SamplerError::NothingAllowed));
    assert!(matches!(&answers[3], Err(SamplerError::Params(why)) if why.contains("`banned`")));
}

#[test]
fn a_stop_string_of_many_bytes_is_found_when_each_byte_is_a_token() {
    let config = even();
    let weights = weights(&config);
    let tokenizer = bytes_only();
    let byte = |byte: u8| {
        let mut tokens = (0..tokenizer.vocab_len() as u32).map(TokenId);
        tokens.find(|&token| tokenizer.bytes(token) == [byte]).unwrap()
    };
    // "é" is C3 A9, "€" is E2 82 AC; with only those bytes to draw from, both come up soon.
    for text in ["é", "é€"] {
        let allowed =
            if text == "é" { vec![byte(0xc3), byte(0xa9)] } else { text.bytes().map(byte).collect() };
        let logit_bias: Vec<_> = allowed.iter().map(|&token| (token, 0.0)).collect();
        // Hot, so that all of them are drawn.
        let params = SamplingParams {
            allowed,
            logit_bias,
            stop: vec![if text == "é" { text.into() } else { "€".into() }],
            ..at(20.0, 170)
        };
        let stop = params.stop[0].clone();
        let said = said(&weights, &prompt(&config, 11, 5), params);
        let bytes = tokenizer.decode_bytes(&said.tokens);
        let first = bytes.windows(stop.len()).position(|seen| seen == stop.as_bytes());
        assert_eq!(said.stop, StopReason::StopString, "{text} came up");
        assert_eq!(first, Some(bytes.len() - stop.len()), "it ended where {stop} first ended");
    }
}

#[test]
fn tokens_are_shown_as_they_are_drawn() {
    let config = even();
    let weights = weights(&config);
    let (shown, answers) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let sink = CompletionSink::new({
        let answers = Arc::clone(&answers);
        move |answer| answers.lock().unwrap().push(answer)
    })
    .with_tokens({
        let shown = Arc::clone(&shown);
        move |drawn| shown.lock().unwrap().push(drawn)
    });
    let mut sampler = generator(&weights, 2, 1);
    for i in 0..3 {
        sampler.submit(request(i, &prompt(&config, i, 10), at(1.0, 3 + 4 * i as usize)));
    }
    while sampler.pump(&sink) == Pump::Busy {}
    let answers: Vec<Completion> =
        answers.lock().unwrap().drain(..).map(|answer: SessionResult| answer.result.unwrap()).collect();
    assert_eq!(answers.len(), 3);
    for said in &answers {
        let own: Vec<TokenLogprob> = shown
            .lock()
            .unwrap()
            .iter()
            .filter(|d: &&SampledToken| d.session == said.session)
            .map(|d| d.drawn)
            .collect();
        assert_eq!(own.iter().map(|entry| entry.token).collect::<Vec<_>>(), said.tokens);
        assert_eq!(own.iter().map(|entry| entry.logprob).collect::<Vec<_>>(), said.logprobs);
    }
}
