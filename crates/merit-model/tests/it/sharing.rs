//! Pages, limits and waiting never show in what is said.

use crate::support::*;
use merit_core::TokenId;
use merit_model::*;
use std::sync::Arc;

/// One page of [`odd`]: 2 layers, one key head, 64 positions of 8 keys and 16 values (padded), 4 bytes each.
const ODD_PAGE: usize = 2 * 64 * (8 + 16) * 4;

fn with(weights: &Arc<Weights>, settings: GeneratorSettings) -> Generator {
    Generator::new(Arc::clone(weights), bytes_only(), settings).unwrap()
}

fn pages(count: usize) -> GeneratorSettings {
    GeneratorSettings { cache_bytes: count * ODD_PAGE, ..GeneratorSettings::default() }
}

fn requests(config: &DecoderConfig, count: u64) -> Vec<SampleRequest> {
    let length = |i: u64| 1 + (i as usize * 37) % 120;
    (0..count).map(|i| request(i, &prompt(config, i, length(i)), at(0.9, 10 + i as usize))).collect()
}

fn alone(weights: &Arc<Weights>, asked: &[SampleRequest]) -> Vec<Completion> {
    asked.iter().map(|ask| sample(&mut generator(weights, 1, 1), vec![ask.clone()]).remove(0)).collect()
}

#[test]
fn prompts_read_in_pieces_say_the_same() {
    for config in [odd(), windowed()] {
        let weights = weights(&config);
        let asked = requests(&config, 9);
        let want = alone(&weights, &asked);
        for (read_tokens, threads) in [(1, 1), (7, 2), (64, 3), (200, 1)] {
            let settings = GeneratorSettings { read_tokens, threads, ..GeneratorSettings::default() };
            assert_eq!(sample(&mut with(&weights, settings), asked.clone()), want, "{read_tokens} at a time");
        }
    }
}

#[test]
fn a_long_prompt_does_not_stall_those_who_write() {
    let config = odd();
    let weights = weights(&config);
    let settings = GeneratorSettings { read_tokens: 8, ..GeneratorSettings::default() };
    let mut sampler = with(&weights, settings);
    sampler.submit(request(1, &prompt(&config, 1, 4), at(1.0, 5)));
    sampler.submit(request(2, &prompt(&config, 2, 150), at(1.0, 5)));
    // Five steps are enough for the short one, while the long one has read forty tokens at most.
    let done = pump(&mut sampler, 6);
    assert_eq!(done.iter().map(|answer| answer.session).collect::<Vec<_>>(), [SessionId(1)]);
    assert_eq!(drain(&mut sampler).len(), 1);
}

#[test]
fn a_small_cache_makes_requests_wait_and_they_say_the_same() {
    let config = odd();
    let weights = weights(&config);
    let asked = requests(&config, 14);
    let want = alone(&weights, &asked);
    // Two pages hold the longest alone, with all it says.
    for count in [3, 4, 7, 30] {
        for threads in [1, 2] {
            let mut sampler = with(&weights, GeneratorSettings { threads, ..pages(count) });
            assert_eq!(sample(&mut sampler, asked.clone()), want, "{count} pages");
            assert_eq!(sample(&mut sampler, asked.clone()), want, "{count} pages, again");
        }
    }
}

#[test]
fn sequences_that_outgrow_the_cache_together_take_turns() {
    let config = odd();
    let weights = weights(&config);
    // Each starts within one page and ends in three; five pages hold all five only at the start.
    let asked: Vec<_> = (0..5).map(|i| request(i, &prompt(&config, i, 30), at(1.0, 110))).collect();
    let want = alone(&weights, &asked);
    assert_eq!(sample(&mut with(&weights, pages(5)), asked), want);
}

#[test]
fn what_can_never_fit_is_refused_alone() {
    let config = odd();
    let weights = weights(&config);
    let mut sampler = with(&weights, pages(1));
    sampler.submit(request(1, &prompt(&config, 1, 20), at(1.0, 10)));
    sampler.submit(request(2, &prompt(&config, 2, 100), at(1.0, 10)));
    sampler.submit(request(3, &prompt(&config, 3, 60), at(1.0, 10)));
    sampler.submit(request(4, &prompt(&config, 4, 20), at(1.0, 10)));
    let answers: Vec<_> = drain(&mut sampler).into_iter().map(|answer| answer.result).collect();
    assert!(answers[0].is_ok() && answers[3].is_ok());
    let full =
        |positions: usize| Err(SamplerError::CacheFull { positions, needed: 2 * ODD_PAGE, limit: ODD_PAGE });
    assert_eq!(answers[1], full(100), "its context does not fit");
    assert_eq!(answers[2], full(65), "it outgrew the page");
    let error =
        Generator::new(weights, bytes_only(), GeneratorSettings { cache_bytes: 5, ..pages(1) }).unwrap_err();
    assert!(error.to_string().contains("`cache_bytes` is 5"), "{error}");
}

#[test]
fn forgotten_sessions_read_again_and_say_the_same() {
    let config = odd();
    let weights = weights(&config);
    let mut sampler = with(&weights, pages(4));
    let mut contexts: Vec<Vec<TokenId>> = (0..6).map(|i| prompt(&config, i, 20 + i as usize)).collect();
    for turn in 0..3 {
        for (session, context) in (0..).zip(&mut contexts) {
            let ask = request(session, context, at(1.0, 12));
            let said = sample(&mut sampler, vec![ask.clone()]);
            assert_eq!(said, alone(&weights, &[ask]), "turn {turn}");
            context.extend(&said[0].tokens);
            context.extend(prompt(&config, 70 + turn, 5));
        }
    }
}

#[test]
fn a_tree_of_forks_says_what_fresh_sessions_say() {
    let config = even();
    let weights = weights(&config);
    for threads in 1..=3 {
        let settings = GeneratorSettings { threads, ..GeneratorSettings::default() };
        let mut sampler = with(&weights, settings);
        let trunk = prompt(&config, 2, 100);
        let said = sample(&mut sampler, vec![request(0, &trunk, at(1.0, 20))]).remove(0);
        let whole = [trunk, said.tokens].concat();
        // Branches part inside the first page, at its end, inside the second; twigs part from the branches.
        let mut asked = Vec::new();
        for (branch, parted) in (1..).zip([10, 63, 64, 65, 90, 119, 119]) {
            sampler.fork(SessionId(0), SessionId(branch), parted);
            let context = [&whole[..parted], &prompt(&config, branch, 3)].concat();
            asked.push(request(branch, &context, at(1.0, 30)));
        }
        let want = alone(&weights, &asked);
        assert_eq!(sample(&mut sampler, asked.clone()), want, "{threads} threads");
        let mut twigs = Vec::new();
        for (ask, said) in asked.iter().zip(&want) {
            let twig = ask.session.0 + 100;
            let context = [&ask.context[..], &said.tokens[..15]].concat();
            sampler.fork(ask.session, SessionId(twig), context.len());
            twigs.push(request(twig, &context, at(1.0, 30)));
        }
        assert_eq!(sample(&mut sampler, twigs.clone()), alone(&weights, &twigs), "{threads} threads");
    }
}

#[test]
fn a_common_beginning_is_read_and_held_once() {
    let config = odd();
    let weights = weights(&config);
    let common = prompt(&config, 5, 120);
    let asked: Vec<_> = (0..8)
        .map(|i| request(i, &[&common[..], &prompt(&config, 10 + i, 2)].concat(), at(1.0, 4)))
        .collect();
    let want = alone(&weights, &asked);
    // One page of the common tokens for all, and one each for the rest: without sharing it would take sixteen, and
    // reading alone fifteen steps. One of the later ones may have to copy while the first still holds its page.
    let settings = GeneratorSettings { read_tokens: 64, ..pages(1 + 8 + 1) };
    let mut sampler = with(&weights, settings);
    asked.iter().for_each(|ask| sampler.submit(ask.clone()));
    let mut done = pump(&mut sampler, 10);
    done.sort_by_key(|answer| answer.session);
    let said: Vec<_> = done.into_iter().map(|answer| answer.result.unwrap()).collect();
    assert_eq!(said, want);
    // A stranger with the same beginning starts from those pages, too.
    let stranger = request(50, &[&common[..], &prompt(&config, 30, 5)].concat(), at(1.0, 4));
    assert_eq!(sample(&mut sampler, vec![stranger.clone()]), alone(&weights, &[stranger]));
}

#[test]
fn a_session_closed_while_it_reads_leaves_the_others_alone() {
    let config = odd();
    let weights = weights(&config);
    let context = prompt(&config, 6, 100);
    let follower = request(2, &context, at(1.0, 6));
    let other = request(3, &prompt(&config, 7, 30), at(1.0, 6));
    let want = alone(&weights, &[follower.clone(), other.clone()]);
    let settings = GeneratorSettings { read_tokens: 16, ..GeneratorSettings::default() };
    for pumps in 0..8 {
        let mut sampler = with(&weights, settings.clone());
        sampler.submit(request(1, &context, at(1.0, 6)));
        sampler.submit(follower.clone());
        sampler.submit(other.clone());
        let mut done = pump(&mut sampler, pumps);
        sampler.close(SessionId(1));
        done.extend(drain(&mut sampler));
        done.retain(|answer| answer.session != SessionId(1));
        done.sort_by_key(|answer| answer.session);
        let said: Vec<_> = done.into_iter().map(|answer| answer.result.unwrap()).collect();
        assert_eq!(said, want, "closed after {pumps} steps");
        // Its name is free again.
        assert_eq!(sample(&mut sampler, vec![request(1, &context, at(1.0, 6))]).len(), 1);
    }
}

#[test]
fn a_model_worth_all_threads_says_the_same_on_any_number() {
    let config = DecoderConfig { vocab: 33_000, d_model: 512, d_ff: 64, layers: 1, ..even() };
    assert!(config.parameters() > 16_000_000);
    let weights = Arc::new(Weights::init(&config, merit_core::Seed::root(3)).unwrap());
    let asked: Vec<_> = (0..5).map(|i| request(i, &prompt(&config, i, 40), at(1.0, 4))).collect();
    let want = sample(&mut generator(&weights, 1, 1), asked.clone());
    assert_eq!(bits(&want[0].logprobs), bits(&trained(&weights, &asked[0].context, &want[0], 1.0).0));
    for (max_batch, threads) in [(1, 2), (3, 3)] {
        assert_eq!(sample(&mut generator(&weights, max_batch, threads), asked.clone()), want);
    }
}

#[test]
fn thousands_of_sessions_rest_while_forks_of_them_answer() {
    let config = odd();
    let weights = weights(&config);
    let mut sampler = with(&weights, pages(5000));
    let asked: Vec<_> = (0..2000).map(|i| request(i, &prompt(&config, i, 24), at(1.0, 1))).collect();
    sample(&mut sampler, asked);
    for i in 0..500 {
        sampler.fork(SessionId(i), SessionId(10_000 + i), 20);
        let ask = request(10_000 + i, &[&prompt(&config, i, 24)[..20], &[TokenId(5)]].concat(), at(1.0, 1));
        assert_eq!(sample(&mut sampler, vec![ask]).len(), 1);
    }
}
