//! The tests of `merit-studies` through its public interface: one program, a module for each subject.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod active_inference;
mod anyprefer;
mod barfi;
mod bmgq;
mod cells;
mod comas;
mod conformal_abstention;
mod cpr_norms;
mod exprd_explors;
mod knapsack_composer;
mod nanorobot_q;
mod policies;
mod reagent_panel;
mod retroformer;
mod robo_dopamine;
mod sales_rl_agent;
mod scoring;
mod statefactory;
mod systems;
mod ta_mdp_rft;
mod tabular;
mod verl_tool;
mod worlds;
