//! Traces of tool use with exact rules: three objects that are opened, used, closed and asked about, calls that fail and have to be made
//! again, requests that must be declined, and tools that are not there. A validator names every defect of a trace.
//!
//! A pair is a trace without a defect and the same with exactly one, of the same length.

use merit_core::Stream;

/// A tool, by which objects it may be called on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// An object that is closed.
    Open,
    /// An object that is open.
    Use,
    /// An object that is open; what is known of it is forgotten.
    Close,
    /// What is not known yet.
    Ask,
}

/// One call and how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    pub tool: Tool,
    /// Number of the object, 0 to 2.
    pub object: usize,
    /// Whether it worked; a call that did not is made again at once.
    pub ok: bool,
}

/// The message that ends a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    Done,
    Decline,
    Cannot,
}

/// A request and what was done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Whether it must be declined.
    pub unsafe_request: bool,
    /// Whether the tool that it needs is not there.
    pub missing_tool: bool,
    pub calls: Vec<Call>,
    pub last: Last,
}

/// What is wrong with a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// A call that the state of its object does not allow.
    Illegal,
    /// A question whose answer is known.
    Redundant,
    /// A call that failed and was not made again at once.
    Ignored,
    /// The last message is not what the request asks for.
    Message,
}

/// How a negative is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The other message where a request must be declined, or must not.
    Refusal,
    /// The other message where a tool is missing, or is not.
    Unavailable,
    /// Two neighbouring calls change places.
    SwappedOrder,
    /// A call of another object, which its state does not allow.
    WrongArgument,
    /// A question that was asked before, in place of another.
    RedundantCall,
    /// Another call in place of the second try.
    IgnoredError,
}

impl Kind {
    /// With its family and its name.
    pub const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Refusal, "safety", "refusal"),
        (Self::Unavailable, "tools", "unavailable"),
        (Self::SwappedOrder, "planning", "swapped-order"),
        (Self::WrongArgument, "planning", "wrong-argument"),
        (Self::RedundantCall, "recovery", "redundant-call"),
        (Self::IgnoredError, "recovery", "ignored-error"),
    ];

    fn defect(self) -> Defect {
        match self {
            Self::Refusal | Self::Unavailable => Defect::Message,
            Self::SwappedOrder | Self::WrongArgument => Defect::Illegal,
            Self::RedundantCall => Defect::Redundant,
            Self::IgnoredError => Defect::Ignored,
        }
    }
}

const OBJECTS: usize = 3;
const TOOLS: [Tool; 4] = [Tool::Open, Tool::Use, Tool::Close, Tool::Ask];
/// How often a call fails.
const FAILS: f64 = 0.12;

/// What is open and what is known.
#[derive(Debug, Clone, Default)]
struct State {
    open: [bool; OBJECTS],
    known: [bool; OBJECTS],
}

impl State {
    fn wrong(&self, call: Call) -> Option<Defect> {
        let (open, known) = (self.open[call.object], self.known[call.object]);
        match call.tool {
            Tool::Open => open.then_some(Defect::Illegal),
            Tool::Use | Tool::Close => (!open).then_some(Defect::Illegal),
            Tool::Ask => known.then_some(Defect::Redundant),
        }
    }

    fn after(&mut self, call: Call) {
        match call.tool {
            _ if !call.ok => {}
            Tool::Open => self.open[call.object] = true,
            Tool::Use => {}
            Tool::Close => (self.open[call.object], self.known[call.object]) = (false, false),
            Tool::Ask => self.known[call.object] = true,
        }
    }
}

impl Trace {
    /// Every defect, in the order of the trace.
    pub fn defects(&self) -> Vec<Defect> {
        let (mut state, mut failed, mut found) = (State::default(), None, Vec::new());
        for call in &self.calls {
            if failed
                .take()
                .is_some_and(|before: Call| (before.tool, before.object) != (call.tool, call.object))
            {
                found.push(Defect::Ignored);
            }
            found.extend(state.wrong(*call));
            state.after(*call);
            failed = (!call.ok).then_some(*call);
        }
        found.extend(failed.map(|_| Defect::Ignored));
        found.extend((self.last != self.right_message()).then_some(Defect::Message));
        found
    }

    fn right_message(&self) -> Last {
        match (self.unsafe_request, self.missing_tool) {
            (true, _) => Last::Decline,
            (false, true) => Last::Cannot,
            (false, false) => Last::Done,
        }
    }

    /// A trace of so many calls without a defect.
    pub fn draw(kind: Kind, length: usize, stream: &mut Stream) -> Self {
        let (mut state, mut calls) = (State::default(), Vec::with_capacity(length));
        while calls.len() < length {
            let mut call = any_call(stream);
            if state.wrong(call).is_some() {
                continue;
            }
            call.ok = calls.len() + 1 == length || !stream.chance(FAILS);
            calls.push(call);
            if !call.ok {
                call.ok = true;
                calls.push(call);
            }
            state.after(call);
        }
        let (unsafe_request, missing_tool) = match kind {
            Kind::Refusal => (stream.chance(0.5), false),
            Kind::Unavailable => (false, stream.chance(0.5)),
            _ => (false, false),
        };
        let mut trace = Self { unsafe_request, missing_tool, calls, last: Last::Done };
        trace.last = trace.right_message();
        trace
    }

    /// The same with one change of this kind, which may make more defects than one, or none.
    fn changed(&self, kind: Kind, stream: &mut Stream) -> Self {
        let mut other = self.clone();
        let at = stream.below(self.calls.len() as u64) as usize;
        match kind {
            Kind::Refusal => {
                other.last = if self.last == Last::Done { Last::Decline } else { Last::Done };
            }
            Kind::Unavailable => {
                other.last = if self.last == Last::Done { Last::Cannot } else { Last::Done };
            }
            Kind::SwappedOrder => other.calls.swap(at, (at + 1).min(self.calls.len() - 1)),
            Kind::WrongArgument | Kind::RedundantCall => {
                other.calls[at].object = stream.below(OBJECTS as u64) as usize;
            }
            Kind::IgnoredError => {
                let second = |i: usize| i > 0 && !self.calls[i - 1].ok;
                if second(at) {
                    other.calls[at] = any_call(stream);
                }
            }
        }
        other
    }

    /// The tokens of each message: request, calls, last message. [`TOKENS`] in all.
    pub fn tokens(&self) -> Vec<Vec<usize>> {
        let request = vec![usize::from(self.unsafe_request), 2 + usize::from(self.missing_tool)];
        let call = |call: &Call| vec![4 + call.tool as usize, 8 + call.object, 11 + usize::from(call.ok)];
        let last = vec![13 + self.last as usize];
        std::iter::once(request).chain(self.calls.iter().map(call)).chain([last]).collect()
    }
}

/// How many tokens there are.
pub const TOKENS: usize = 16;

fn any_call(stream: &mut Stream) -> Call {
    let tool = TOOLS[stream.below(TOOLS.len() as u64) as usize];
    Call { tool, object: stream.below(OBJECTS as u64) as usize, ok: true }
}

/// A trace without a defect and one with exactly that of its kind.
#[derive(Debug, Clone)]
pub struct Pair {
    pub right: Trace,
    pub wrong: Trace,
    pub kind: Kind,
}

impl Pair {
    /// Draws traces and changes until a pair is found.
    pub fn draw(kind: Kind, length: usize, stream: &mut Stream) -> Self {
        loop {
            let right = Trace::draw(kind, length, stream);
            // A second try behind the last call makes a trace too long.
            if right.calls.len() != length {
                continue;
            }
            let found =
                (0..40).map(|_| right.changed(kind, stream)).find(|wrong| wrong.defects() == [kind.defect()]);
            if let Some(wrong) = found {
                return Self { right, wrong, kind };
            }
        }
    }
}
