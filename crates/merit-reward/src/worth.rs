//! What a part of an expression comes to, and how several are taken together.

/// What a part comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Worth {
    Number(f64),
    NotApplicable(String),
    Unscorable(String),
    Broken(String),
}

impl Worth {
    /// A number that is not finite is a broken grader, wherever it arises.
    pub(crate) fn sound(self) -> Self {
        match self {
            Self::Number(value) if !value.is_finite() => Self::Broken(format!("it came to {value}")),
            other => other,
        }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        if let Self::Number(value) = self { Some(*value) } else { None }
    }

    /// The same with its number changed; anything else stays what it is.
    pub(crate) fn map(self, change: impl FnOnce(f64) -> f64) -> Self {
        match self {
            Self::Number(value) => Self::Number(change(value)),
            other => other,
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Number(value) => format!("= {value}"),
            Self::NotApplicable(why) => format!(": not applicable ({why})"),
            Self::Unscorable(why) => format!(": unscorable ({why})"),
            Self::Broken(why) => format!(": grader failed ({why})"),
        }
    }
}

/// The numbers among `parts`, or what the whole comes to when they cannot be combined.
pub(crate) fn numbers(parts: &[Worth]) -> Result<Vec<f64>, Worth> {
    if let Some(stopper) = stopper(parts) {
        return Err(stopper);
    }
    let numbers: Vec<f64> = parts.iter().filter_map(Worth::number).collect();
    if numbers.is_empty() {
        return Err(Worth::NotApplicable("no part applies".to_owned()));
    }
    Ok(numbers)
}

/// What makes the whole of `parts` unscorable or broken, the worse first.
pub(crate) fn stopper(parts: &[Worth]) -> Option<Worth> {
    let broken = parts.iter().find(|p| matches!(p, Worth::Broken(_)));
    broken.or_else(|| parts.iter().find(|p| matches!(p, Worth::Unscorable(_)))).cloned()
}
