//! RLOO: each episode is judged against the mean of the others of its task.

use crate::kernels::leave_one_out;
use crate::{Credit, CreditBatch, CreditError, CreditRule, Properties};
use merit_core::{About, Component};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `n/(n − 1) · (r − mean)` over the n valid members of the group: `r` less the mean of the others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rloo {}

impl Component for Rloo {
    const ABOUT: About = About {
        name: "rloo",
        summary: "The reward less the mean of the group's other members.",
        paper: "Ahmadian et al., Back to Basics, arXiv:2402.14740",
    };
}

impl CreditRule for Rloo {
    fn properties(&self) -> Properties {
        Properties::by_episode()
    }

    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError> {
        batch.per_episode(leave_one_out, |reward, group| {
            let (n, mean) = (group.count, crate::credit::short(group.mean));
            format!("({reward} − {mean}) · {n} / {}", n - 1)
        })
    }
}
