//! Behaviour of the reward algebra, its combinators and its light terms.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

mod algebra;
mod broken_terms;
mod checking;
mod checklist;
mod combinators_mixing;
mod combinators_order;
mod combinators_scope;
mod combinators_state;
mod command;
mod compiling;
mod episodes;
mod error_rates;
mod groups;
mod invariance;
mod open;
mod optimum;
mod parts;
mod plain;
mod published_mistakes;
mod python;
mod scoring;
mod shaping;
mod tabular;
mod told;
mod units;
