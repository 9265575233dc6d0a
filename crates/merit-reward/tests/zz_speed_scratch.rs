#![allow(clippy::unwrap_used)]
mod terms_support;
use terms_support::*;
use merit_core::CallEnd::Ok as Ran;
use merit_reward::*;
use serde_json::json;
#[test]
fn speed() {
    let payload = json!({"order": {"item":"tea","n":2}, "outputs":["12"], "actions":[{"name":"book","kwargs":{"n":1}},{"name":"book","kwargs":{"n":2}}], "goal":{"n":1}});
    let c = Did::Calls(&[("book", r#"{"n": 1}"#, Ran, "ok")]);
    let s = Did::Says("<think>let me see</think> we will look at the booking and then it is 12 of them");
    let did = [s.clone(), c.clone(), s.clone(), c.clone(), s.clone(), c.clone(), s.clone(), c, s, Did::Answers("42")];
    let e = play(Some("42"), payload, &did);
    let rewards = [
        "type='format'", "type='exact-answer'", "type='tool-success'", "type='ended'", "type='length'\nunit='tokens'\nmin=1\nmax=9\nreading='all-turns'",
        "type='length'\nunit='chars'\nmin=1\nmax=9",
        "type='tag-format'\ntags=['think']\neach_turn=true", "type='repetition'", "type='outputs'", "type='reference-actions'\nwrites=['book']",
        "type='tool-calls'\nspecs={value=[{name='book',parameters={type='object',properties={n={type='integer'}}}}]}",
        "type='trace'\nrules=[{must_call={tool='book'}}]", "type='maths'", "type='text'\ncheck={metric={type='exact'}}", "type='text'\ncheck={metric={type='f1'}}",
        "type='json'\nreference='answer'", "type='state'", "type='similarity'\ncheck={embedder='hashed-ngrams',pass_at=0.5}",
    ];
    for r in rewards {
        let sc = scorer(r);
        let ctx = ScoreContext::default();
        for _ in 0..100 { std::hint::black_box(sc.score(&e, &ctx)); }
        let t = std::time::Instant::now();
        let n = 3000;
        for _ in 0..n { std::hint::black_box(sc.score(&e, &ctx)); }
        println!("{:6.2} us  {}", t.elapsed().as_secs_f64()/n as f64*1e6, r.replace('\n'," "));
    }
}
