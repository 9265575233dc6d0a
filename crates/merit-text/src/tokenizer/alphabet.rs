//! What the text of a vocabulary entry stands for: the alphabets in which real tokenizers write bytes.
//!
//! In: the token as it stands in the vocabulary. Out: its bytes. Byte-level vocabularies write each byte as a printable
//! letter; SentencePiece writes a space as `▁` and single bytes as `<0x0A>`; WordPiece marks what continues a word by `##`.

use crate::TokenizerError;
use std::collections::HashMap;
use std::sync::LazyLock;

/// How the tokens of a vocabulary are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    ByteLevel,
    SentencePiece,
    WordPiece,
}

/// The letter of each byte: itself where it is printable, otherwise the next free one from U+0100 on.
static LETTERS: LazyLock<[char; 256]> = LazyLock::new(|| {
    let mut next = 256;
    std::array::from_fn(|byte| {
        let byte = byte as u32;
        let printable = matches!(byte, 33..=126 | 161..=172 | 174..=255);
        let code = if printable {
            byte
        } else {
            next += 1;
            next - 1
        };
        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
    })
});

static BYTES: LazyLock<HashMap<char, u8>> =
    LazyLock::new(|| LETTERS.iter().zip(0..=u8::MAX).map(|(&letter, byte)| (letter, byte)).collect());

impl Alphabet {
    /// The bytes of an ordinary token.
    pub(super) fn bytes(self, token: &str) -> Vec<u8> {
        match self {
            // A token outside the alphabet was put in as plain text.
            Self::ByteLevel => token
                .chars()
                .map(|letter| BYTES.get(&letter).copied())
                .collect::<Option<Vec<u8>>>()
                .unwrap_or_else(|| token.as_bytes().to_vec()),
            Self::SentencePiece => match single_byte(token) {
                Some(byte) => vec![byte],
                None => token.replace('▁', " ").into_bytes(),
            },
            Self::WordPiece => match token.strip_prefix("##") {
                Some(rest) => rest.as_bytes().to_vec(),
                None => format!(" {token}").into_bytes(),
            },
        }
    }

    /// How a single byte is written.
    pub(super) fn byte(self, byte: u8) -> String {
        match self {
            Self::ByteLevel => LETTERS[usize::from(byte)].to_string(),
            Self::SentencePiece | Self::WordPiece => format!("<0x{byte:02X}>"),
        }
    }

    /// The bytes without a token. Real byte-level vocabularies lack some that hardly any text has (controls, and beginnings
    /// of letters that do not exist); one that lacks more is refused, because ordinary texts could not be written.
    pub(super) fn missing(self, has: impl Fn(&str) -> bool) -> Result<Vec<u8>, TokenizerError> {
        if self == Self::WordPiece {
            return Ok(Vec::new());
        }
        let written = |byte: u8| {
            let plain = self == Self::SentencePiece && byte.is_ascii() && has(&char::from(byte).to_string());
            plain || has(&self.byte(byte))
        };
        let needed = |byte: u8| {
            self == Self::SentencePiece || matches!(byte, b'\t' | b'\n' | 32..=126 | 128..=191 | 194..=240)
        };
        let missing: Vec<u8> = (0..=u8::MAX).filter(|&byte| !written(byte)).collect();
        match missing.iter().find(|&&byte| needed(byte)) {
            Some(&byte) => Err(TokenizerError::MissingByte { byte }),
            None => Ok(missing),
        }
    }
}

fn single_byte(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_own_letter_and_comes_back() {
        for byte in 0..=u8::MAX {
            assert_eq!(Alphabet::ByteLevel.bytes(&Alphabet::ByteLevel.byte(byte)), [byte]);
            assert_eq!(Alphabet::SentencePiece.bytes(&Alphabet::SentencePiece.byte(byte)), [byte]);
        }
        assert_eq!(Alphabet::ByteLevel.byte(b' '), "Ġ");
        assert_eq!(Alphabet::ByteLevel.byte(b'\n'), "Ċ");
    }

    #[test]
    fn tokens_are_read_in_their_own_alphabet() {
        assert_eq!(Alphabet::ByteLevel.bytes("Ġcat"), b" cat");
        assert_eq!(Alphabet::ByteLevel.bytes("日"), "日".as_bytes(), "plain text outside the alphabet");
        assert_eq!(Alphabet::SentencePiece.bytes("▁cat"), b" cat");
        assert_eq!(Alphabet::SentencePiece.bytes("<0xZZ>"), b"<0xZZ>");
        assert_eq!(Alphabet::WordPiece.bytes("##s"), b"s");
    }

    #[test]
    fn a_vocabulary_that_cannot_write_ordinary_text_is_refused() {
        let all_but_x = |token: &str| token != "x";
        assert_eq!(Alphabet::ByteLevel.missing(all_but_x), Err(TokenizerError::MissingByte { byte: b'x' }));
        assert_eq!(Alphabet::SentencePiece.missing(all_but_x), Ok(Vec::new()));
        let all_but_a_control = |token: &str| token != Alphabet::ByteLevel.byte(4);
        assert_eq!(Alphabet::ByteLevel.missing(all_but_a_control), Ok(vec![4]), "as real vocabularies do");
    }
}
