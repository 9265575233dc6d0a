//! The loop: take lines while there is room, advance everything by one step, write what is done and next in order.

use super::feed::{Fed, Feed, InputLine};
use super::line::{Refusal, RefusalKind};
use super::order::{InOrder, Slot};
use super::output::{Failed, Output, said};
use super::plan::{Plan, Planner};
use anyhow::Result;
use merit_model::{
    Completion, CompletionSink, Generator, Pump, SampleRequest, Sampler as _, SamplerError, SamplingParams,
    SessionId, SessionResult,
};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// What the input came to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) lines: u64,
    /// Lines with an error, their own or of one of their completions.
    pub(super) refused: u64,
    pub(super) samples: u64,
    /// Tokens of prompts, each counted once for its line.
    pub(super) read: u64,
    pub(super) written: u64,
}

/// What is remembered of a line until it is written.
struct Asked {
    number: u64,
    id: Option<Value>,
    wish: Result<Wish, Refusal>,
}

struct Wish {
    params: Arc<SamplingParams>,
    logprobs: bool,
}

type Answer = Result<Completion, SamplerError>;

pub(super) struct Work<'a> {
    planner: Planner<'a>,
    generator: &'a mut Generator,
    batch: usize,
    order: InOrder<Asked, Answer>,
    under_way: HashMap<SessionId, Slot>,
    sessions: u64,
    /// Sessions that are done and kept for a while: others may begin with the same tokens.
    resting: VecDeque<SessionId>,
    tally: Tally,
}

impl<'a> Work<'a> {
    pub(super) fn new(planner: Planner<'a>, generator: &'a mut Generator, batch: usize) -> Self {
        Self {
            planner,
            generator,
            batch,
            order: InOrder::new(),
            under_way: HashMap::new(),
            sessions: 0,
            resting: VecDeque::new(),
            tally: Tally::default(),
        }
    }

    pub(super) fn run(mut self, feed: Feed, output: &mut Output) -> Result<Tally> {
        let done: Arc<Mutex<Vec<SessionResult>>> = Arc::default();
        let put = Arc::clone(&done);
        let sink = CompletionSink::new(move |result| {
            put.lock().unwrap_or_else(PoisonError::into_inner).push(result)
        });
        let mut more = true;
        while more || !self.under_way.is_empty() {
            more = more && self.take_lines(&feed)?;
            let idle = !self.under_way.is_empty() && self.generator.pump(&sink) == Pump::Idle;
            for result in std::mem::take(&mut *done.lock().unwrap_or_else(PoisonError::into_inner)) {
                self.settle(result);
            }
            if idle {
                self.give_up();
            }
            while let Some((asked, answers)) = self.order.pop() {
                self.write(&asked, &answers, output)?;
            }
        }
        Ok(self.tally)
    }

    /// Takes lines while there is room for them; false when no more will come.
    fn take_lines(&mut self, feed: &Feed) -> Result<bool> {
        // A slow line holds back those behind it, so the room is counted in lines too.
        while self.under_way.len() < 2 * self.batch && self.order.len() < 4 * self.batch + 64 {
            let idle = self.order.len() == 0;
            match feed.next(idle)? {
                Fed::Line(line) => self.begin(&line),
                Fed::Nothing => return Ok(true),
                Fed::End => return Ok(false),
            }
        }
        Ok(true)
    }

    fn begin(&mut self, input: &InputLine) {
        self.tally.lines += 1;
        let (id, plan) = self.planner.plan(input);
        let number = input.number;
        let Plan { context, params, seeds, logprobs } = match plan {
            Ok(plan) => plan,
            Err(refusal) => {
                self.order.push(Asked { number, id, wish: Err(refusal) }, 0);
                return;
            }
        };
        self.tally.read += context.len() as u64;
        let wish = Ok(Wish { params: Arc::clone(&params), logprobs });
        let line = self.order.push(Asked { number, id, wish }, seeds.len());
        for (result, seed) in seeds.into_iter().enumerate() {
            let session = SessionId(self.sessions);
            self.sessions += 1;
            self.under_way.insert(session, Slot { line, result });
            let (context, params) = (context.clone(), Arc::clone(&params));
            self.generator.submit(SampleRequest { session, context, params, seed });
        }
    }

    fn settle(&mut self, SessionResult { session, result }: SessionResult) {
        let Some(slot) = self.under_way.remove(&session) else { return };
        if let Ok(completion) = &result {
            self.tally.samples += 1;
            self.tally.written += completion.tokens.len() as u64;
        }
        self.order.put(slot, result);
        self.resting.push_back(session);
        if self.resting.len() > self.batch {
            self.resting.pop_front().into_iter().for_each(|oldest| self.generator.close(oldest));
        }
    }

    /// A sampler with nothing to do owes no answers; were it to, the waiting request is told.
    fn give_up(&mut self) {
        for session in self.under_way.keys().copied().collect::<Vec<_>>() {
            let result = Err(SamplerError::Failed("it fell silent without an answer".to_owned()));
            self.settle(SessionResult { session, result });
        }
    }

    fn write(&mut self, asked: &Asked, answers: &[Answer], output: &mut Output) -> Result<()> {
        let (line, id) = (asked.number, asked.id.as_ref());
        let wish = match &asked.wish {
            Ok(wish) => wish,
            Err(error) => {
                self.tally.refused += 1;
                return output.put(&Failed { line, id, sample: None, error });
            }
        };
        self.tally.refused += u64::from(answers.iter().any(Result::is_err));
        let tokenizer = self.planner.model().tokenizer();
        for (sample, answer) in answers.iter().enumerate() {
            match answer {
                Ok(completion) => {
                    let place = (line, id, sample);
                    output.put(&said(tokenizer, place, completion, &wish.params.stop, wish.logprobs))?;
                }
                Err(fault) => {
                    let error = &refusal(fault);
                    output.put(&Failed { line, id, sample: Some(sample), error })?;
                }
            }
        }
        Ok(())
    }
}

fn refusal(fault: &SamplerError) -> Refusal {
    let kind = match fault {
        SamplerError::EmptyContext | SamplerError::ContextTooLong { .. } | SamplerError::CacheFull { .. } => {
            RefusalKind::Context
        }
        SamplerError::Params(_) => RefusalKind::Params,
        SamplerError::NothingAllowed | SamplerError::Constraint(_) => RefusalKind::Constraint,
        _ => RefusalKind::Sampler,
    };
    Refusal::new(kind, fault.to_string())
}
