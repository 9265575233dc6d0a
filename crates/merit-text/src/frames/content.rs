//! What a template does to the text of a message: nothing, or it takes spaces off its ends, or writes it as a JSON string.

/// The rule for one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Content {
    pub(super) trims_start: bool,
    pub(super) trims_end: bool,
    pub(super) json: bool,
}

impl Content {
    /// The text as the template shows it.
    pub fn shown(self, text: &str) -> String {
        if self.json {
            return escaped(text);
        }
        let text = if self.trims_start { text.trim_start() } else { text };
        if self.trims_end { text.trim_end().to_owned() } else { text.to_owned() }
    }

    /// The text that was shown so. What was trimmed is gone.
    pub fn read(self, shown: &str) -> String {
        if !self.json {
            return shown.to_owned();
        }
        serde_json::from_str(&format!("\"{shown}\"")).unwrap_or_else(|_| shown.to_owned())
    }

    /// Whether spaces at an end are lost.
    pub fn trims(self) -> bool {
        self.trims_start || self.trims_end
    }

    /// Whether it is written as a JSON string.
    pub fn is_json(self) -> bool {
        self.json
    }
}

/// The text inside the quotes of a JSON string.
pub(super) fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&quoted).to_owned()
}
