//! Every study, one file each. To add one: its file, and its name in this list.

merit_core::registry! {
    /// Every study.
    pub static STUDIES: dyn crate::Study = [
        active_inference::ActiveInference,
        barfi::Barfi,
        exprd_explors::ExprdExplors,
        nanorobot_q::NanorobotQ,
        robo_dopamine::RoboDopamine,
    ];
}
