//! A place in bytes that are not trusted: every read says first whether there is enough left.

/// Reads forward; a fault is the reason in words, to which the caller adds where.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(super) fn take(&mut self, count: u64) -> Result<&'a [u8], String> {
        let count = usize::try_from(count).ok().filter(|&count| count <= self.left()).ok_or_else(|| {
            format!(
                "is truncated or corrupt: {count} bytes are wanted at {}, {} are left",
                self.at,
                self.left()
            )
        })?;
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let taken = self.take(N as u64)?;
        Ok(*taken.first_chunk::<N>().expect("as many were taken"))
    }

    pub(super) fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    /// A count of things that take at least `each` bytes, so that no room is made for what cannot be there.
    pub(super) fn count(&mut self, each: u64, what: &str) -> Result<usize, String> {
        let count = self.u64()?;
        if count.checked_mul(each).is_none_or(|bytes| bytes > self.left() as u64) {
            return Err(format!(
                "is truncated or corrupt: {count} {what} cannot lie in {} bytes",
                self.left()
            ));
        }
        Ok(count as usize)
    }

    pub(super) fn text(&mut self) -> Result<String, String> {
        let length = self.u64()?;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| format!("is not UTF-8: {error}"))
    }
}
