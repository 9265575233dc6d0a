//! One value of a GGUF file's metadata.

use super::cursor::Cursor;

/// Arrays of arrays of arrays are still read; deeper ones are not.
const MAX_DEPTH: usize = 3;

/// A value; numbers of every width are widened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    /// Numbers and truth values, as they lie in the file: there can be very many.
    Numbers(Numbers),
    Texts(Vec<String>),
    Lists(Vec<Value>),
}

/// An array of numbers, undecoded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers {
    kind: u32,
    bytes: Vec<u8>,
}

const BOOL: u32 = 7;
const TEXT: u32 = 8;
const ARRAY: u32 = 9;

/// Bytes of a number of this kind; `None` for what is no number.
fn width(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | BOOL => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

impl Value {
    pub(super) fn read(cursor: &mut Cursor<'_>, kind: u32, depth: usize) -> Result<Self, String> {
        match kind {
            TEXT => cursor.text().map(Self::Text),
            ARRAY if depth < MAX_DEPTH => Self::read_array(cursor, depth + 1),
            ARRAY => Err(format!("holds arrays nested more than {MAX_DEPTH} deep")),
            _ => {
                let width = width(kind).ok_or_else(|| format!("is of the unknown kind {kind}"))?;
                scalar(kind, cursor.take(width)?)
            }
        }
    }

    fn read_array(cursor: &mut Cursor<'_>, depth: usize) -> Result<Self, String> {
        let kind = cursor.u32()?;
        if let Some(width) = width(kind) {
            let count = cursor.count(width, "numbers")?;
            let bytes = cursor.take(count as u64 * width)?.to_vec();
            if kind == BOOL && bytes.iter().any(|&byte| byte > 1) {
                return Err("holds a truth value that is neither 0 nor 1".to_owned());
            }
            return Ok(Self::Numbers(Numbers { kind, bytes }));
        }
        match kind {
            TEXT => {
                let count = cursor.count(8, "texts")?;
                (0..count).map(|_| cursor.text()).collect::<Result<_, _>>().map(Self::Texts)
            }
            ARRAY => {
                let count = cursor.count(12, "arrays")?;
                (0..count)
                    .map(|_| Self::read(cursor, ARRAY, depth))
                    .collect::<Result<_, _>>()
                    .map(Self::Lists)
            }
            _ => Err(format!("is an array of the unknown kind {kind}")),
        }
    }

    /// As JSON; `None` for what has too many entries to be a setting.
    pub(crate) fn to_json(&self) -> Option<serde_json::Value> {
        const FEW: usize = 4096;
        Some(match self {
            Self::Unsigned(value) => (*value).into(),
            Self::Signed(value) => (*value).into(),
            Self::Float(value) => serde_json::Number::from_f64(*value)?.into(),
            Self::Bool(value) => (*value).into(),
            Self::Text(text) => text.clone().into(),
            Self::Numbers(numbers) if numbers.len() <= FEW => {
                numbers.iter().map(|value| value.to_json()).collect::<Option<Vec<_>>>()?.into()
            }
            Self::Texts(texts) if texts.len() <= FEW => texts.clone().into(),
            _ => return None,
        })
    }
}

impl Numbers {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() / self.width()
    }

    fn width(&self) -> usize {
        width(self.kind).map_or(1, |width| width as usize)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Value> {
        self.bytes.chunks_exact(self.width()).filter_map(|bytes| scalar(self.kind, bytes).ok())
    }
}

/// The number in `bytes`, of which there are as many as its kind has.
fn scalar(kind: u32, bytes: &[u8]) -> Result<Value, String> {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let unsigned = u64::from_le_bytes(wide);
    // The sign bit of a narrow number is moved to the top and back.
    let spare = 64 - 8 * bytes.len() as u32;
    let signed = (unsigned << spare).cast_signed() >> spare;
    Ok(match kind {
        0 | 2 | 4 | 10 => Value::Unsigned(unsigned),
        1 | 3 | 5 | 11 => Value::Signed(signed),
        6 => Value::Float(f64::from(f32::from_bits(unsigned as u32))),
        BOOL if unsigned <= 1 => Value::Bool(unsigned == 1),
        BOOL => return Err("is a truth value that is neither 0 nor 1".to_owned()),
        _ => Value::Float(f64::from_bits(unsigned)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: u32, bytes: &[u8]) -> Result<Value, String> {
        Value::read(&mut Cursor::new(bytes), kind, 0)
    }

    #[test]
    fn numbers_of_every_width_keep_their_value() {
        assert_eq!(read(0, &[200]), Ok(Value::Unsigned(200)));
        assert_eq!(read(1, &[200]), Ok(Value::Signed(-56)));
        assert_eq!(read(2, &[0, 128]), Ok(Value::Unsigned(32768)));
        assert_eq!(read(3, &[0, 128]), Ok(Value::Signed(-32768)));
        assert_eq!(read(4, &u32::MAX.to_le_bytes()), Ok(Value::Unsigned(4_294_967_295)));
        assert_eq!(read(5, &(-7_i32).to_le_bytes()), Ok(Value::Signed(-7)));
        assert_eq!(read(6, &1.5_f32.to_le_bytes()), Ok(Value::Float(1.5)));
        assert_eq!(read(7, &[1]), Ok(Value::Bool(true)));
        assert_eq!(read(10, &u64::MAX.to_le_bytes()), Ok(Value::Unsigned(u64::MAX)));
        assert_eq!(read(11, &(-9_i64).to_le_bytes()), Ok(Value::Signed(-9)));
        assert_eq!(read(12, &0.1_f64.to_le_bytes()), Ok(Value::Float(0.1)));
    }

    #[test]
    fn what_cannot_be_there_is_refused() {
        assert!(read(7, &[2]).unwrap_err().contains("neither 0 nor 1"));
        assert!(read(13, &[0]).unwrap_err().contains("unknown kind 13"));
        let mut many = 4_u32.to_le_bytes().to_vec();
        many.extend(u64::MAX.to_le_bytes());
        assert!(read(9, &many).unwrap_err().contains("cannot lie in 0 bytes"));
        let mut nested = Vec::new();
        for _ in 0..10 {
            nested.extend(9_u32.to_le_bytes());
            nested.extend(1_u64.to_le_bytes());
        }
        assert!(read(9, &nested).unwrap_err().contains("nested"));
        assert!(read(8, &[2, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe]).unwrap_err().contains("UTF-8"));
    }
}
