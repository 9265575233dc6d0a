//! The budget of one verification: steps, memory and time, spent by every loop and recursion, so that no input can hold
//! a thread or fill the memory.
//!
//! Steps decide first: they are counted the same way on every machine, so a verdict does not depend on the clock. The
//! wall limit is a second fence, far above what the steps take.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// What one verification may use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Units of work; one is about 20 ns to 100 ns.
    pub steps: u64,
    /// Longest text of either side that is looked at, in bytes; the end is kept, where answers stand.
    pub text_bytes: usize,
    /// Deepest nesting of an expression.
    pub depth: usize,
    /// Largest integer, in bits.
    pub integer_bits: usize,
    /// Wall-clock fence in milliseconds.
    pub wall_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 2_000_000, text_bytes: 1 << 20, depth: 200, integer_bits: 1 << 16, wall_ms: 1_000 }
    }
}

/// A limit was reached; the work stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Exhausted {
    #[error("it took more than the allowed steps")]
    Steps,
    #[error("it is nested too deeply")]
    Depth,
    /// An integer would grow too large.
    #[error("a number grows too large")]
    Size,
    /// Past the wall-clock fence.
    #[error("it took longer than allowed")]
    Time,
}

/// What is left of the limits.
#[derive(Debug, Clone)]
pub struct Budget {
    limits: Limits,
    steps_left: u64,
    depth: usize,
    until_clock: u32,
    deadline: Instant,
}

impl Budget {
    /// How many steps pass between two looks at the clock.
    const CLOCK_EVERY: u32 = 4096;

    /// A full budget, counting from now.
    pub fn new(limits: Limits) -> Self {
        let deadline = Instant::now() + Duration::from_millis(limits.wall_ms);
        Self { limits, steps_left: limits.steps, depth: 0, until_clock: Self::CLOCK_EVERY, deadline }
    }

    /// The limits it started from.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Steps spent so far.
    pub fn spent(&self) -> u64 {
        self.limits.steps - self.steps_left
    }

    /// Steps left.
    pub(crate) fn left(&self) -> u64 {
        self.steps_left
    }

    /// Takes `steps` from what is left, or says that it is exhausted.
    pub fn spend(&mut self, steps: u64) -> Result<(), Exhausted> {
        self.steps_left = match self.steps_left.checked_sub(steps) {
            Some(left) => left,
            None => {
                self.steps_left = 0;
                return Err(Exhausted::Steps);
            }
        };
        self.until_clock = self.until_clock.saturating_sub(u32::try_from(steps).unwrap_or(u32::MAX));
        if self.until_clock == 0 {
            self.until_clock = Self::CLOCK_EVERY;
            if Instant::now() > self.deadline {
                return Err(Exhausted::Time);
            }
        }
        Ok(())
    }

    /// Runs `work` with at most `steps` of what is left. That it used them up does not exhaust the rest.
    pub(crate) fn at_most<T>(&mut self, steps: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        let share = steps.min(self.steps_left);
        let rest = self.steps_left - share;
        self.steps_left = share;
        let done = work(self);
        self.steps_left += rest;
        done
    }

    /// Runs `work` one level deeper.
    pub fn deeper<T, E: From<Exhausted>>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.depth >= self.limits.depth {
            return Err(Exhausted::Depth.into());
        }
        self.spend(1)?;
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    /// Checks that an integer of `bits` bits is allowed, and spends what handling it costs.
    pub fn size(&mut self, bits: usize) -> Result<(), Exhausted> {
        if bits > self.limits.integer_bits {
            return Err(Exhausted::Size);
        }
        self.spend(1 + (bits / 64) as u64)
    }
}
