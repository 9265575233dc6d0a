//! Every credit rule, one file each. To add one: its file, and its name in this list.

merit_core::registry! {
    pub static RULES: dyn crate::CreditRule = [
        grpo::Grpo,
        dr_grpo::DrGrpo,
        rloo::Rloo,
        reinforce_plus_plus::ReinforcePlusPlus,
        group_whitened::GroupWhitened,
        gae::Gae,
        contrastive::Contrastive,
        turn_groups::TurnGroups,
        keyed_groups::KeyedGroups,
        checklist_step::ChecklistStep,
        two_level::TwoLevel,
        branch_monte_carlo::BranchMonteCarlo,
        tree_monte_carlo::TreeMonteCarlo,
    ];
}
