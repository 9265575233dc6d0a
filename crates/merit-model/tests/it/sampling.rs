//! What is sampled depends on weights, context, parameters and seed, and on nothing else.

use crate::support::*;
use merit_core::TokenId;
use merit_model::*;

fn requests(config: &DecoderConfig, count: u64) -> Vec<SampleRequest> {
    let length = |i: u64| 1 + (i as usize * 7) % 50;
    (0..count).map(|i| request(i, &prompt(config, i, length(i)), at(0.9, 5 + i as usize))).collect()
}

#[test]
fn sampled_logprobs_and_values_have_the_bits_of_training() {
    for config in [odd(), even(), windowed()] {
        let weights = weights(&config);
        for batch in [1, 17] {
            for temperature in [0.7, 1.0] {
                let mut asked = requests(&config, 17);
                asked.iter_mut().for_each(|r| r.params = at(temperature, 40).into());
                let contexts: Vec<_> = asked.iter().map(|r| r.context.clone()).collect();
                let said = sample(&mut generator(&weights, batch, 1), asked);
                for (context, said) in contexts.iter().zip(&said) {
                    let (logprobs, values) = trained(&weights, context, said, temperature);
                    assert_eq!(bits(&said.logprobs), bits(&logprobs));
                    assert_eq!(bits(&said.values), bits(&values));
                }
            }
        }
    }
}

#[test]
fn the_same_seed_says_the_same_in_any_batch_and_on_any_threads() {
    for config in [odd(), even(), windowed()] {
        let weights = weights(&config);
        let alone: Vec<_> = requests(&config, 9)
            .into_iter()
            .map(|request| sample(&mut generator(&weights, 1, 1), vec![request]).remove(0))
            .collect();
        for (batch, threads) in [(1, 1), (3, 2), (64, 1), (64, 2), (5, 4)] {
            assert_eq!(sample(&mut generator(&weights, batch, threads), requests(&config, 9)), alone);
        }
    }
}

#[test]
fn every_instruction_set_says_the_same() {
    let config = odd();
    let weights = weights(&config);
    let best = sample(&mut generator(&weights, 8, 1), requests(&config, 6));
    for isa in Isa::available() {
        assert_eq!(
            sample(&mut generator(&weights, 8, 1).with_isa(isa), requests(&config, 6)),
            best,
            "{isa:?}"
        );
    }
}

#[test]
fn a_cached_session_says_what_a_fresh_one_says() {
    let config = even();
    let weights = weights(&config);
    let mut kept = generator(&weights, 4, 1);
    let mut context = prompt(&config, 1, 30);
    for turn in 0..4 {
        let ask = request(1, &context, at(1.0, 20));
        let fresh = sample(&mut generator(&weights, 4, 1), vec![ask.clone()]).remove(0);
        let cached = sample(&mut kept, vec![ask]).remove(0);
        assert_eq!(cached, fresh, "turn {turn}");
        context.extend(&cached.tokens);
        context.extend(prompt(&config, 50 + turn, 3));
    }
    // A context that does not continue what was cached is read from where they part.
    context.truncate(40);
    context.push(TokenId(9));
    let ask = request(1, &context, at(1.0, 20));
    assert_eq!(sample(&mut kept, vec![ask.clone()]), sample(&mut generator(&weights, 4, 1), vec![ask]));
}

#[test]
fn a_fork_says_what_a_fresh_session_says() {
    let config = odd();
    let weights = weights(&config);
    let context = prompt(&config, 2, 40);
    let mut sampler = generator(&weights, 4, 1);
    sample(&mut sampler, vec![request(1, &context, at(1.0, 30))]);
    for tokens in [0, 1, 17, 40, 1000] {
        sampler.fork(SessionId(1), SessionId(2), tokens);
        let ask = request(2, &context, at(1.0, 30));
        assert_eq!(
            sample(&mut sampler, vec![ask.clone()]),
            sample(&mut generator(&weights, 4, 1), vec![ask])
        );
        sampler.close(SessionId(2));
    }
    sampler.fork(SessionId(99), SessionId(3), 5);
}

#[test]
fn members_of_a_group_share_the_prompt_and_differ_by_seed() {
    let config = even();
    let weights = weights(&config);
    let context = prompt(&config, 3, 50);
    let ask = || (0..8).map(|i| request(i, &context, at(1.0, 20))).collect::<Vec<_>>();
    let together = sample(&mut generator(&weights, 8, 1), ask());
    let apart: Vec<_> = ask()
        .into_iter()
        .map(|request| sample(&mut generator(&weights, 1, 1), vec![request]).remove(0))
        .collect();
    assert_eq!(together, apart);
    assert!(together.iter().any(|said| said.tokens != together[0].tokens));
}

#[test]
fn a_member_that_may_say_nothing_neither_leads_nor_follows() {
    let config = odd();
    let weights = weights(&config);
    let context = prompt(&config, 3, 20);
    let alone = sample(&mut generator(&weights, 1, 1), vec![request(2, &context, at(1.0, 5))]);
    for silent_first in [true, false] {
        let mut asked = vec![request(1, &context, at(1.0, 0)), request(2, &context, at(1.0, 5))];
        if !silent_first {
            asked.reverse();
        }
        let said = sample(&mut generator(&weights, 2, 1), asked);
        assert_eq!(said[0].tokens, [], "session 1 may say nothing, whoever came first");
        assert_eq!(said[1], alone[0]);
    }
}

#[test]
fn new_weights_drop_the_caches() {
    let config = odd();
    let old = weights(&config);
    let mut changed = (*old).clone();
    changed.values_mut().iter_mut().for_each(|w| *w *= 1.01);
    let new = std::sync::Arc::new(changed);
    let mut sampler = generator(&old, 4, 1);
    let ask = || request(1, &prompt(&config, 4, 30), at(1.0, 20));
    sample(&mut sampler, vec![ask()]);
    let packed = |weights| std::sync::Arc::new(PackedWeights::for_sampling(weights, Precision::F32));
    sampler.set_packed(packed(new.clone())).unwrap();
    assert_eq!(sample(&mut sampler, vec![ask()]), sample(&mut generator(&new, 4, 1), vec![ask()]));
    let refused = sampler.set_packed(packed(weights(&even()))).unwrap_err().to_string();
    assert!(refused.contains("must have the shape of the old ones"), "{refused}");
}

#[test]
fn completions_stop_where_they_should() {
    let config = odd();
    let weights = weights(&config);
    let context = prompt(&config, 5, 10);
    let said = |params| sample(&mut generator(&weights, 1, 1), vec![request(1, &context, params)]).remove(0);

    let long = said(at(1.0, 1000));
    assert_eq!((long.stop, long.tokens.len()), (StopReason::ContextFull, config.max_context - context.len()));
    let short = said(at(1.0, 12));
    assert_eq!((short.stop, &short.tokens[..]), (StopReason::MaxTokens, &long.tokens[..12]));
    let stop_tokens = vec![long.tokens[6]];
    let first = long.tokens.iter().position(|token| *token == stop_tokens[0]).unwrap();
    let token = said(SamplingParams { stop_tokens, ..at(1.0, 1000) });
    assert_eq!((token.stop, &token.tokens[..]), (StopReason::StopToken, &long.tokens[..=first]));
    assert_eq!(said(at(1.0, 0)).tokens, []);
}

#[test]
fn a_stop_string_ends_a_completion_across_token_borders() {
    let config = odd();
    let weights = weights(&config);
    let context = prompt(&config, 6, 10);
    let said = |params| sample(&mut generator(&weights, 1, 1), vec![request(1, &context, params)]).remove(0);
    let tokenizer = bytes_only();
    let long = said(at(1.0, 140));
    // Two neighbouring one-byte tokens that are plain text: each token is half of the stop string.
    let (at_token, stop) = (0..long.tokens.len() - 1)
        .find_map(|i| {
            let bytes = tokenizer.decode_bytes(&long.tokens[i..i + 2]);
            let text = String::from_utf8(bytes).ok().filter(|text| text.len() == 2)?;
            let earlier = tokenizer.decode_bytes(&long.tokens[..i + 1]);
            (!earlier.windows(2).any(|pair| pair == text.as_bytes())).then_some((i, text))
        })
        .expect("some neighbouring tokens are ASCII");
    let stopped = said(SamplingParams { stop: vec![stop], ..at(1.0, 140) });
    assert_eq!((stopped.stop, &stopped.tokens[..]), (StopReason::StopString, &long.tokens[..at_token + 2]));
}

#[test]
fn greedy_takes_the_likeliest_and_a_small_top_p_agrees() {
    let config = even();
    let weights = weights(&config);
    let context = prompt(&config, 7, 25);
    let said = |params| sample(&mut generator(&weights, 1, 1), vec![request(1, &context, params)]).remove(0);
    let greedy = said(at(0.0, 30));
    let nucleus = said(SamplingParams { top_p: 1e-6, ..at(1.0, 30) });
    assert_eq!(greedy, nucleus);
    assert_eq!(bits(&greedy.logprobs), bits(&trained(&weights, &context, &greedy, 1.0).0));
}

#[test]
fn a_bad_request_fails_alone() {
    let config = odd();
    let weights = weights(&config);
    let mut sampler = generator(&weights, 8, 1);
    sampler.submit(request(0, &prompt(&config, 0, 5), at(1.0, 3)));
    sampler.submit(request(1, &[], at(1.0, 3)));
    sampler.submit(request(2, &prompt(&config, 0, 161), at(1.0, 3)));
    sampler.submit(request(3, &[TokenId(269)], at(1.0, 3)));
    sampler.submit(request(4, &prompt(&config, 0, 5), at(f32::NAN, 3)));
    sampler.submit(request(5, &prompt(&config, 0, 5), SamplingParams { top_p: 0.0, ..at(1.0, 3) }));
    sampler.submit(request(6, &prompt(&config, 0, 160), at(1.0, 3)));
    let results: Vec<_> = drain(&mut sampler).into_iter().map(|result| result.result).collect();
    assert_eq!(results[0].as_ref().unwrap().tokens.len(), 3);
    assert_eq!(results[1], Err(SamplerError::EmptyContext));
    assert_eq!(results[2], Err(SamplerError::ContextTooLong { got: 161, limit: 160 }));
    assert_eq!(results[3], Err(SamplerError::UnknownToken { token: 269, vocab: 269 }));
    assert!(matches!(results[4], Err(SamplerError::Params(_))));
    assert!(matches!(results[5], Err(SamplerError::Params(_))));
    assert_eq!(results[6].as_ref().unwrap().stop, StopReason::ContextFull);
}

#[test]
fn a_second_request_of_a_waiting_session_is_refused() {
    let config = odd();
    let mut sampler = generator(&weights(&config), 8, 1);
    let ask = request(1, &prompt(&config, 0, 5), at(1.0, 3));
    sampler.submit(ask.clone());
    sampler.submit(ask);
    let results = drain(&mut sampler);
    assert!(results.iter().any(|result| result.result == Err(SamplerError::Busy)));
    assert!(results.iter().any(|result| result.result.is_ok()));
}

#[test]
fn weights_that_are_not_finite_fail_the_session_not_the_process() {
    let config = odd();
    let mut broken = (*weights(&config)).clone();
    broken.values_mut().fill(f32::NAN);
    let mut sampler = generator(&std::sync::Arc::new(broken), 2, 1);
    sampler.submit(request(1, &prompt(&config, 0, 5), at(1.0, 3)));
    assert_eq!(drain(&mut sampler)[0].result, Err(SamplerError::NonFinite));
}
