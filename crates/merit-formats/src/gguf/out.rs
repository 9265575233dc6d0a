//! The bytes of a GGUF head.

use crate::Encoding;

/// A value of the metadata.
pub(super) enum Put<'a> {
    U32(u32),
    F32(f32),
    Bool(bool),
    Text(&'a str),
    Texts(&'a [String]),
    I32s(Vec<i32>),
    F32s(&'a [f32]),
}

/// A head under way.
pub(super) struct Out(Vec<u8>);

impl Out {
    pub(super) fn begin(tensors: usize, metadata: &[(String, Put<'_>)]) -> Self {
        let mut out = Self(b"GGUF".to_vec());
        out.number(3_u32.to_le_bytes());
        out.number((tensors as u64).to_le_bytes());
        out.number((metadata.len() as u64).to_le_bytes());
        for (key, value) in metadata {
            out.text(key);
            out.value(value);
        }
        out
    }

    fn number<const N: usize>(&mut self, bytes: [u8; N]) {
        self.0.extend_from_slice(&bytes);
    }

    fn text(&mut self, text: &str) {
        self.number((text.len() as u64).to_le_bytes());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn array(&mut self, kind: u32, count: usize) {
        self.number(9_u32.to_le_bytes());
        self.number(kind.to_le_bytes());
        self.number((count as u64).to_le_bytes());
    }

    fn scalar<const N: usize>(&mut self, kind: u32, bytes: [u8; N]) {
        self.number(kind.to_le_bytes());
        self.number(bytes);
    }

    fn value(&mut self, value: &Put<'_>) {
        match value {
            Put::U32(number) => self.scalar(4, number.to_le_bytes()),
            Put::F32(number) => self.scalar(6, number.to_le_bytes()),
            Put::Bool(flag) => self.scalar(7, [u8::from(*flag)]),
            Put::Text(text) => {
                self.number(8_u32.to_le_bytes());
                self.text(text);
            }
            Put::Texts(texts) => {
                self.array(8, texts.len());
                texts.iter().for_each(|text| self.text(text));
            }
            Put::I32s(numbers) => {
                self.array(5, numbers.len());
                numbers.iter().for_each(|number| self.number(number.to_le_bytes()));
            }
            Put::F32s(numbers) => {
                self.array(6, numbers.len());
                numbers.iter().for_each(|number| self.number(number.to_le_bytes()));
            }
        }
    }

    /// A line of the list of tensors; `offset` counts from the start of the data.
    pub(super) fn tensor(&mut self, name: &str, shape: &[usize], encoding: Encoding, offset: usize) {
        self.text(name);
        self.number((shape.len() as u32).to_le_bytes());
        shape.iter().rev().for_each(|&size| self.number((size as u64).to_le_bytes()));
        self.number(encoding.gguf_number().to_le_bytes());
        self.number((offset as u64).to_le_bytes());
    }

    /// Everything so far, filled up to where the data begins.
    pub(super) fn finish(mut self, alignment: usize) -> Vec<u8> {
        let length = self.0.len().next_multiple_of(alignment);
        self.0.resize(length, 0);
        self.0
    }
}
