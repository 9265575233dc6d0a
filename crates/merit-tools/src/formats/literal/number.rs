//! Numbers in literals: as JSON has them, and nothing that would be rounded in silence.

use super::{Fault, Reader};
use serde_json::{Number, Value};

impl Reader<'_> {
    pub(super) fn number(&mut self) -> Result<Value, Fault> {
        let bytes = self.rest().as_bytes();
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.' | b'_');
        let length = bytes.iter().take_while(|b| is_part(b)).count();
        let written = self.rest().get(..length).unwrap_or_default();
        let Ok(number) = serde_json::from_str::<Number>(written) else {
            return Err(self.fault("not a number"));
        };
        // The reader of numbers turns what does not fit into the nearest float.
        let is_whole = written.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        if is_whole && number.is_f64() && written != "-0" {
            return Err(self.fault("a number beyond 64 bits; write it as a string"));
        }
        self.at += length;
        Ok(Value::Number(number))
    }
}
