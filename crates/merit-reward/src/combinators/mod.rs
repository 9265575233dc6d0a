//! The combinators, one file each.

pub(crate) mod clip;
pub(crate) mod gate;
pub(crate) mod product;
pub(crate) mod schedule;
pub(crate) mod solved_by;
pub(crate) mod sum;
pub(crate) mod veto;

pub use clip::ClipConfig;
pub use gate::GateConfig;
pub use product::ProductConfig;
pub use schedule::ScheduleConfig;
pub use solved_by::SolvedByConfig;
pub use sum::SumConfig;
pub use veto::VetoConfig;
