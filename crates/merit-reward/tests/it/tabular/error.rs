//! Why a tabular world cannot be used.

/// A world, policy or potential that cannot work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum TabularError {
    /// No state, or no action.
    #[error("a world needs at least one state and one action; this one has {states} and {actions}")]
    Empty {
        /// States given.
        states: usize,
        /// Actions given.
        actions: usize,
    },
    /// A table of the wrong size.
    #[error("`{table}` has {got} rows{of}; it needs {want}")]
    Rows {
        /// The table.
        table: &'static str,
        /// Which row, in words; empty for the outermost.
        of: String,
        /// Rows given.
        got: usize,
        /// Rows needed.
        want: usize,
    },
    /// An arrow to a state that does not exist.
    #[error("state `{state}`, action `{action}`: an arrow leads to state number {to} of {states}")]
    NoSuchState {
        /// From.
        state: String,
        /// By.
        action: String,
        /// To.
        to: usize,
        /// States there are.
        states: usize,
    },
    /// Probabilities that are none, or do not add up to 1.
    #[error(
        "state `{state}`, action `{action}`: the probabilities are {sum} in all; each must be from 0 to 1, and their sum 1"
    )]
    Probabilities {
        /// From.
        state: String,
        /// By.
        action: String,
        /// Their sum.
        sum: f64,
    },
    /// A reward or potential that is not finite.
    #[error("{what} of state `{state}` is {value}; it must be finite")]
    NotFinite {
        /// What it is.
        what: &'static str,
        /// Where.
        state: String,
        /// Its value.
        value: f64,
    },
    /// A state in which nothing can be done, and which is not terminal.
    #[error(
        "nothing can be done in state `{state}`, and it is not terminal; give it an action or mark it terminal"
    )]
    DeadEnd {
        /// The state.
        state: String,
    },
    /// A terminal state with arrows out of it.
    #[error("state `{state}` is terminal and has arrows out of it; remove one or the other")]
    TerminalMoves {
        /// The state.
        state: String,
    },
    /// A discount at which values need not exist, or would take too long.
    #[error("gamma is {gamma}; it must be from 0 to 0.999")]
    Gamma {
        /// The discount.
        gamma: f64,
    },
    /// More policies than can be gone through one by one.
    #[error("there are {count} deterministic policies; at most {limit} can be gone through one by one")]
    TooManyPolicies {
        /// How many, as text since it may not fit a number.
        count: String,
        /// The most.
        limit: usize,
    },
    /// A policy that puts weight on what cannot be done, or none at all.
    #[error("the policy's probabilities in state `{state}` must lie on its actions and have the sum 1")]
    Policy {
        /// The state.
        state: String,
    },
}
