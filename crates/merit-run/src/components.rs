//! Every component that a recipe may name.

use merit_core::Components;

/// The components that come with merit. A caller adds its own with [`Components::with`].
///
/// ```
/// use merit_credit::CreditRule;
/// let components = merit_run::built_in();
/// assert!(components.find::<dyn CreditRule>("grpo").is_ok());
/// ```
pub fn built_in() -> Components {
    let register = [
        merit_tools::register,
        merit_env::register,
        merit_reward::register,
        merit_graders::register,
        merit_judge::register,
        merit_credit::register,
        merit_learn::register,
        crate::annotators::register,
        crate::tasks::register,
    ];
    register.into_iter().fold(Components::default(), |components, register| register(components))
}

/// The components of the document that is being read, for settings that open another document later. Those of merit where nothing
/// is being read.
pub(crate) fn lent() -> Components {
    let lent = Components::lent();
    if lent.all().is_empty() { built_in() } else { lent }
}
