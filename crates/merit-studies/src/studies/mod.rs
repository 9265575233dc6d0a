//! Every study, one file each. To add one: its file, and its name in this list.

merit_core::registry! {
    pub static STUDIES: dyn crate::Study = [
        knapsack_composer::KnapsackComposer,
        conformal_abstention::ConformalAbstention,
        active_inference::ActiveInference,
        ta_mdp_rft::TaMdpRft,
        cpr_norms::CprNorms,
        barfi::Barfi,
        exprd_explors::ExprdExplors,
        nanorobot_q::NanorobotQ,
        robo_dopamine::RoboDopamine,
        verl_tool::VerlTool,
        statefactory::Statefactory,
        sales_rl_agent::SalesRlAgent,
        embed_rl::EmbedRl,
        recrm_bench::RecrmBench,
        rewardharness::RewardHarness,
        plan_rewardbench::PlanRewardbench,
        deep_graphrag::DeepGraphrag,
        tearag::Tearag,
        bmgq::Bmgq,
        reagent_frames::ReagentFrames,
        reagent_curation::ReagentCuration,
        reagent_hard::ReagentHard,
        reagent_panel::ReagentPanel,
        retroformer::Retroformer,
        comas::Comas,
        anyprefer::Anyprefer,
    ];
}
