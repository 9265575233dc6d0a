//! The terms that need nothing but the record, one file each. Terms that need a verifier are in merit-graders.

mod number;
mod pay;
mod reading;

pub use command::told;
pub use number::canonical;
pub use pay::{ByTurn, Pay};
pub use reading::{Reading, Reference, check_pointer, excerpt, policy_texts};

/// Why a cap of 0 calls is refused.
pub const NO_CALLS: &str =
    "`max_calls` is 0, so that no call could ever count; leave it out or give at least 1";

merit_core::registry! {
    pub static TERMS: dyn crate::term::Term = [
        exact_answer::ExactAnswer,
        format::Format,
        tool_success::ToolSuccess,
        cost::Cost,
        reported::Reported,
        majority::Majority,
        distinct::Distinct,
        outputs::Outputs,
        length::Length,
        ended::Ended,
        tag_format::TagFormat,
        info::Info,
        environment_reward::EnvironmentReward,
        annotation::Annotated,
        command::Command,
        python::Python,
    ];
}
