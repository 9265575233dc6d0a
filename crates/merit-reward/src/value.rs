//! What a part of an expression comes to, and how several are taken together.

/// What a part comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Number(f64),
    /// It has nothing to say of this episode, and why.
    NotApplicable(String),
    /// The episode cannot be scored, and why.
    Unscorable(String),
    /// A grader failed, and why.
    Broken(String),
}

impl Value {
    /// A number that is not finite is a broken grader, wherever it arises.
    pub fn sound(self) -> Self {
        match self {
            Self::Number(value) if !value.is_finite() => Self::Broken(format!("it came to {value}")),
            other => other,
        }
    }

    /// The number, where it is one.
    pub fn number(&self) -> Option<f64> {
        if let Self::Number(value) = self { Some(*value) } else { None }
    }

    /// The same with its number changed; anything else stays what it is.
    pub fn map(self, change: impl FnOnce(f64) -> f64) -> Self {
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
pub fn numbers(parts: &[Value]) -> Result<Vec<f64>, Value> {
    if let Some(stopper) = stopper(parts) {
        return Err(stopper);
    }
    let numbers: Vec<f64> = parts.iter().filter_map(Value::number).collect();
    if numbers.is_empty() {
        return Err(Value::NotApplicable("no part applies".to_owned()));
    }
    Ok(numbers)
}

/// What makes the whole of `parts` unscorable or broken, the worse first.
pub fn stopper(parts: &[Value]) -> Option<Value> {
    let broken = parts.iter().find(|p| matches!(p, Value::Broken(_)));
    broken.or_else(|| parts.iter().find(|p| matches!(p, Value::Unscorable(_)))).cloned()
}
