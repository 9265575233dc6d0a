//! The web of one episode: which fixture answers, and how often it has.

use super::ABOUT;
use super::fixture::Fixture;
use super::request::Request;
use super::response::status_line;
use crate::excerpt::{excerpt, refused};
use crate::{ToolAnswer, ToolError, ToolFuture, ToolSession, no_state};
use merit_core::registry;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Pairs of characters that are compared at most to find the nearest URL.
const MAX_COMPARED: usize = 4_000_000;

struct Session {
    fixtures: Arc<[Fixture]>,
    shown_bytes: usize,
    /// Requests that each fixture with several responses has answered.
    answered: Mutex<BTreeMap<usize, u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    answered: BTreeMap<usize, u64>,
}

pub(super) fn open(
    fixtures: Arc<[Fixture]>,
    shown_bytes: usize,
    state: Option<&Value>,
) -> Result<Arc<dyn ToolSession>, ToolError> {
    let answered = if is_stateful(&fixtures) {
        state.map(|state| read_state(state, &fixtures)).transpose()?.unwrap_or_default()
    } else {
        no_state(ABOUT.name, state)?;
        BTreeMap::new()
    };
    Ok(Arc::new(Session { fixtures, shown_bytes, answered: Mutex::new(answered) }))
}

fn is_stateful(fixtures: &[Fixture]) -> bool {
    fixtures.iter().any(|fixture| fixture.responses.len() > 1)
}

fn read_state(state: &Value, fixtures: &[Fixture]) -> Result<BTreeMap<usize, u64>, ToolError> {
    let bad = |why: String| ToolError::Snapshot { tool: ABOUT.name.to_owned(), why };
    let state = State::deserialize(state).map_err(|error| bad(error.to_string()))?;
    let counts = |i: &usize| fixtures.get(*i).is_some_and(|fixture| fixture.responses.len() > 1);
    match state.answered.keys().find(|i| !counts(i)) {
        Some(i) => Err(bad(format!("fixture {i} does not have several responses"))),
        None => Ok(state.answered),
    }
}

impl ToolSession for Session {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        let answer =
            Request::read(&input).map_or_else(refused, |request| ToolAnswer::Ok(self.answer(&request)));
        Box::pin(std::future::ready(answer))
    }

    fn snapshot(&self) -> Value {
        if !is_stateful(&self.fixtures) {
            return Value::Null;
        }
        json!({ "answered": *self.answered.lock().unwrap_or_else(PoisonError::into_inner) })
    }
}

impl Session {
    fn answer(&self, request: &Request) -> String {
        let fitting = self.fixtures.iter().enumerate().filter(|(_, fixture)| fixture.fits(request));
        // A HEAD request asks for what a GET would give, without the body.
        let is_head = request.method == "HEAD";
        let of_method = fitting
            .clone()
            .filter(|(_, fixture)| fixture.method == request.method || (is_head && fixture.method == "GET"));
        let Some((i, fixture)) = of_method.min_by_key(|(i, fixture)| (fixture.rank(), *i)) else {
            let methods: BTreeSet<&str> = fitting.map(|(_, fixture)| fixture.method.as_str()).collect();
            return if methods.is_empty() { self.not_found(request) } else { not_allowed(&methods) };
        };
        let last = fixture.responses.len() - 1;
        let at = if last == 0 { 0 } else { self.count(i).min(last as u64) as usize };
        fixture
            .responses
            .get(at)
            .map_or_else(String::new, |response| response.text(is_head, self.shown_bytes))
    }

    /// How many requests fixture `i` had answered before this one.
    fn count(&self, i: usize) -> u64 {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let count = answered.entry(i).or_default();
        *count = count.saturating_add(1);
        *count - 1
    }

    fn not_found(&self, request: &Request) -> String {
        let is_known = self.fixtures.iter().any(|fixture| fixture.url.fits(&request.url));
        let shown = excerpt(&request.url, 100);
        let why = if is_known {
            format!("{shown} is known, but not with these headers or this body")
        } else {
            let known = || self.fixtures.iter().map(|fixture| fixture.url.text.as_str());
            let compared = known().map(str::len).sum::<usize>().saturating_mul(request.url.len());
            let nearest =
                (compared <= MAX_COMPARED).then(|| registry::nearest(&request.url, known())).flatten();
            let hint = nearest.map_or_else(String::new, |url| format!("; nearest: {}", excerpt(&url, 200)));
            format!("nothing at {shown}{hint}")
        };
        format!("{}\n\n{why}", status_line(404))
    }
}

fn not_allowed(methods: &BTreeSet<&str>) -> String {
    let methods: Vec<&str> = methods.iter().copied().collect();
    format!("{}\nallow: {}", status_line(405), methods.join(", "))
}
