//! One call to its end from ordinary code, for checks and demonstrations; the rollout engine has its own runtime.

use crate::{ToolAnswer, ToolSession};
use std::sync::Arc;
use std::time::Duration;

/// Why a call gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// It ran past the deadline.
    #[error("no answer within {0:?}")]
    Late(Duration),
    /// The tool panicked; only the thread of this call is lost.
    #[error("the tool panicked")]
    Panicked,
    /// The runtime for the call could not be started.
    #[error("cannot start a runtime: {0}")]
    Runtime(String),
}

/// Runs one call on a thread and runtime of its own, so that it may be used from anywhere.
pub fn call_blocking(
    session: &Arc<dyn ToolSession>,
    input: &str,
    deadline: Duration,
) -> Result<ToolAnswer, NoAnswer> {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| NoAnswer::Runtime(error.to_string()))?;
        let call = async { tokio::time::timeout(deadline, Arc::clone(session).call(input.to_owned())).await };
        runtime.block_on(call).map_err(|_| NoAnswer::Late(deadline))
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap_or(Err(NoAnswer::Panicked)))
}
