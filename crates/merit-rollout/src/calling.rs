//! The part of an episode's machine that makes tool calls and holds them to their deadlines.

use crate::effect::{Effect, ToolJob};
use crate::machine::{EpisodeMachine, Phase};
use crate::open_env::OpenTool;
use merit_api::{ExecKind, ToolAnswer};
use merit_core::{Action, Boundary, CallEnd, End, Fault, Limit, ToolCall};
use std::time::Instant;

impl EpisodeMachine {
    /// Starts the next call of the present turn, or steps when all have ended.
    pub(crate) fn next_call(&mut self, now: Instant) -> Effect {
        loop {
            let Some(turn) = self.record.turns.last() else { return self.ask(now) };
            let asked = match &turn.action {
                Action::Calls { calls } => calls.get(turn.calls.len()),
                _ => None,
            };
            let Some(asked) = asked.cloned() else { return self.step(now) };
            match self.open.tool(&asked.tool) {
                Ok(tool) => return self.call(tool, asked, now),
                Err(unknown) => {
                    self.record.call_ended(asked, CallEnd::Refused, unknown, 0.0);
                }
            }
        }
    }

    pub(crate) fn call(&mut self, tool: OpenTool, asked: ToolCall, now: Instant) -> Effect {
        self.calls += 1;
        let call = self.calls;
        let input = asked.input.clone();
        let started = (tool.exec_kind != ExecKind::Computing).then_some(now);
        self.enter(Phase::Calling { call, asked, started }, now);
        Effect::Call(ToolJob { call, exec_kind: tool.exec_kind, session: tool.session, input })
    }

    pub(crate) fn tool_started(&mut self, which: u64, now: Instant) -> Effect {
        if let Phase::Calling { call, started: started @ None, .. } = &mut self.phase
            && *call == which
        {
            *started = Some(now);
            self.since = now;
        }
        Effect::Wait
    }

    pub(crate) fn tool_answered(
        &mut self,
        which: u64,
        answer: ToolAnswer,
        seconds: f64,
        now: Instant,
    ) -> Effect {
        let Some(asked) = self.leave_call(|call| call == which) else { return Effect::Wait };
        let limit = self.rules.settings.tool_seconds;
        let (end, output) = match answer {
            _ if seconds > limit => (CallEnd::TimedOut, timed_out(limit)),
            ToolAnswer::Ok(text) => (CallEnd::Ok, text),
            ToolAnswer::Refused(text) => (CallEnd::Refused, text),
            ToolAnswer::TimedOut(text) if text.is_empty() => (CallEnd::TimedOut, timed_out(limit)),
            ToolAnswer::TimedOut(text) => (CallEnd::TimedOut, text),
            ToolAnswer::Broken(text) => (CallEnd::Broken, text),
        };
        self.call_ended(asked, end, output, seconds, now)
    }

    fn call_ended(&mut self, asked: ToolCall, end: CallEnd, output: String, s: f64, now: Instant) -> Effect {
        if self.replay.is_some() {
            self.record.cost.tool_calls += 1;
            self.record.cost.tool_seconds += s;
            return match self.check_repeated_call(&asked, end, &output) {
                Ok(()) => self.go_on(now),
                Err(fault) => self.fail(fault),
            };
        }
        let broke = (end == CallEnd::Broken).then(|| format!("tool `{}`: {output}", asked.tool));
        self.record.call_ended(asked, end, output, s);
        match broke {
            Some(message) => self.fail(Fault::new(Boundary::Tool, message)),
            None => self.next_call(now),
        }
    }

    pub(crate) fn tick(&mut self, now: Instant) -> Effect {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return Effect::Wait;
        }
        let limit = self.rules.settings.tool_seconds;
        let begun = matches!(self.phase, Phase::Calling { started: Some(_), .. });
        let waited = now.saturating_duration_since(self.since).as_secs_f64();
        let late = now >= self.ends_by;
        let Some(asked) = self.leave_call(|_| true) else {
            if let Phase::Valuing(limit) = self.phase {
                let last_known = self.record.last_value();
                return self.finish(End::Truncated { limit }, last_known);
            }
            // The policy's own limits are turns and tokens; a model that does not answer in time is not its doing.
            let message = format!("no answer for {waited:.1} s, and the episode's time is up");
            return self.fail(Fault::new(Boundary::Model, message).with_cause("timed out"));
        };
        if late && begun {
            if self.replay.is_none() {
                let output = "cut: the episode ran out of time".to_owned();
                self.record.call_ended(asked, CallEnd::TimedOut, output, waited);
            }
            let last_known = self.record.last_value();
            return self.finish(End::Truncated { limit: Limit::Time }, last_known);
        }
        if begun {
            return self.call_ended(asked, CallEnd::TimedOut, timed_out(limit), waited, now);
        }
        let output = format!("no thread came free within {limit} s; calls past their deadline may hold them");
        self.call_ended(asked, CallEnd::Broken, output, waited, now)
    }

    /// Takes the running call out of the phase when `which` agrees with its number.
    fn leave_call(&mut self, which: impl Fn(u64) -> bool) -> Option<ToolCall> {
        if !matches!(&self.phase, Phase::Calling { call, .. } if which(*call)) {
            return None;
        }
        match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Calling { asked, .. } => Some(asked),
            Phase::Asking | Phase::Valuing(_) | Phase::Over => None,
        }
    }
}

fn timed_out(limit: f64) -> String {
    format!("timed out after {limit} s")
}
