//! Which documents have a word, and how often: sorted lists in memory, written as differences.
//!
//! A document takes one number of variable length: its distance from the one before, with a lowest bit that says "once";
//! otherwise the count follows as a second number. Lists are cut into blocks of [`BLOCK`] documents; for each block the last
//! document and the best score are kept, so that a search steps over blocks without reading them.

use super::bm25::score;

/// Documents of one block.
pub(super) const BLOCK: usize = 128;

/// No document: past the end of a list.
pub(super) const END: u32 = u32::MAX;

/// A list that grows while the index is built.
#[derive(Default)]
pub(super) struct Growing {
    bytes: Vec<u8>,
    documents: u32,
    last: u32,
}

impl Growing {
    /// Adds a document after all others.
    pub(super) fn push(&mut self, document: u32, count: u32) {
        // The first difference is that from 0.
        let difference = u64::from(document - self.last) << 1;
        if count == 1 {
            write(difference | 1, &mut self.bytes);
        } else {
            write(difference, &mut self.bytes);
            write(u64::from(count), &mut self.bytes);
        }
        self.documents += 1;
        self.last = document;
    }

    /// Adds a list whose documents all come later. Only its first document is written anew.
    pub(super) fn append(&mut self, later: &Self) {
        let mut rest = later.bytes.as_slice();
        let Some((document, count)) = read(0, &mut rest) else { return };
        self.push(document, count);
        self.bytes.extend_from_slice(rest);
        self.documents += later.documents - 1;
        self.last = later.last;
    }

    pub(super) fn documents(&self) -> u32 {
        self.documents
    }
}

/// Part of a list.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// Its last document.
    pub(super) last: u32,
    /// Where it ends, in bytes from the beginning of the list.
    pub(super) end: u32,
    /// No document of it scores more, without boost; one of them scores exactly this.
    pub(super) best: f32,
}

/// Where a list lies.
pub(super) struct Place {
    pub(super) documents: u32,
    pub(super) first_block: u32,
    pub(super) first_byte: usize,
}

/// All lists of one field, one behind the other.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) places: Vec<Place>,
    pub(super) blocks: Vec<Block>,
    pub(super) bytes: Vec<u8>,
}

impl Lists {
    /// Adds a list and finds the best scores of its blocks.
    pub(super) fn push(&mut self, list: Growing, weight: f32, norm: impl Fn(u32) -> f32) {
        let (first_block, first_byte) = (self.blocks.len() as u32, self.bytes.len());
        let (mut rest, mut document, mut best, mut at) = (list.bytes.as_slice(), 0, 0.0_f32, 0);
        while let Some((next, count)) = read(document, &mut rest) {
            document = next;
            best = best.max(score(weight, norm(document), count));
            at += 1;
            if at % BLOCK == 0 || rest.is_empty() {
                let end = (list.bytes.len() - rest.len()) as u32;
                self.blocks.push(Block { last: document, end, best });
                best = 0.0;
            }
        }
        self.bytes.extend_from_slice(&list.bytes);
        self.places.push(Place { documents: list.documents, first_block, first_byte });
    }

    /// Gives spare memory back.
    pub(super) fn shrink(&mut self) {
        self.places.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self.bytes.shrink_to_fit();
    }

    /// How many documents the list has.
    pub(super) fn documents(&self, list: u32) -> u32 {
        self.places.get(list as usize).map_or(0, |place| place.documents)
    }

    /// A reader at the first document of a list.
    pub(super) fn cursor(&self, list: u32) -> Cursor<'_> {
        let at = list as usize;
        let (from, to) = (self.places.get(at), self.places.get(at + 1));
        let blocks = from.map_or(0, |place| place.first_block as usize)
            ..to.map_or(self.blocks.len(), |place| place.first_block as usize);
        let bytes = from.map_or(0, |place| place.first_byte);
        let blocks = self.blocks.get(blocks).filter(|_| from.is_some()).unwrap_or_default();
        let mut cursor = Cursor {
            blocks,
            bytes: self.bytes.get(bytes..).unwrap_or_default(),
            block: 0,
            at: 0,
            near: 0,
            length: 0,
            documents: [END; BLOCK],
            counts: [0; BLOCK],
        };
        cursor.load(0);
        cursor
    }
}

/// Reads a list, a block at a time.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    blocks: &'a [Block],
    bytes: &'a [u8],
    /// The block that was read; as many as there are at the end.
    block: usize,
    at: usize,
    /// The block that was last asked for without reading it.
    near: usize,
    length: usize,
    documents: [u32; BLOCK],
    counts: [u32; BLOCK],
}

impl<'a> Cursor<'a> {
    /// The document it stands on, or [`END`].
    #[inline]
    pub(super) fn document(&self) -> u32 {
        if self.at < self.length { self.documents[self.at % BLOCK] } else { END }
    }

    /// How often that document has the word.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.counts[self.at % BLOCK]
    }

    #[inline]
    pub(super) fn advance(&mut self) {
        self.at += 1;
        if self.at >= self.length {
            self.load(self.block + 1);
        }
    }

    /// Goes to the first document at or after `document`; whether it is that one.
    pub(super) fn seek(&mut self, document: u32) -> bool {
        if self.document() < document {
            self.block_near(document);
            if self.near != self.block {
                self.load(self.near);
            }
            let rest = self.documents.get(self.at..self.length).unwrap_or_default();
            self.at += rest.partition_point(|other| *other < document);
        }
        self.document() == document
    }

    /// The block that the first document at or after this one lies in; documents must come in ascending order.
    pub(super) fn block_near(&mut self, document: u32) -> Option<&'a Block> {
        self.near = self.near.max(self.block);
        let later = self.blocks.get(self.near..).unwrap_or_default();
        if later.first().is_some_and(|block| block.last < document) {
            self.near += later.partition_point(|block| block.last < document);
        }
        self.blocks.get(self.near)
    }

    /// The blocks of the list.
    pub(super) fn blocks(&self) -> &'a [Block] {
        self.blocks
    }

    /// Goes to the beginning of a block and calls `each` with its documents and counts.
    pub(super) fn read_block(&mut self, block: usize, mut each: impl FnMut(u32, u32)) {
        self.load(block);
        let read = self.documents.iter().zip(&self.counts).take(self.length);
        read.for_each(|(document, count)| each(*document, *count));
    }

    fn load(&mut self, block: usize) {
        (self.block, self.at, self.length) = (block, 0, 0);
        let Some(Block { end, .. }) = self.blocks.get(block) else { return };
        let before = block.checked_sub(1).and_then(|before| self.blocks.get(before));
        let (mut document, start) = before.map_or((0, 0), |block| (block.last, block.end));
        let mut rest = self.bytes.get(start as usize..*end as usize).unwrap_or_default();
        for (place, times) in self.documents.iter_mut().zip(&mut self.counts) {
            let Some((next, count)) = read(document, &mut rest) else { break };
            document = next;
            (*place, *times) = (document, count);
            self.length += 1;
        }
    }
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn write(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

/// The document after `before`, and its count.
#[inline]
fn read(before: u32, bytes: &mut &[u8]) -> Option<(u32, u32)> {
    let coded = read_number(bytes)?;
    let document = before + (coded >> 1) as u32;
    let count = if coded & 1 == 1 { 1 } else { read_number(bytes)? as u32 };
    Some((document, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(made: &[(u32, u32)], cut: usize) -> Lists {
        let (mut first, mut second) = (Growing::default(), Growing::default());
        made.iter().take(cut).for_each(|(document, count)| first.push(*document, *count));
        made.iter().skip(cut).for_each(|(document, count)| second.push(*document, *count));
        first.append(&second);
        assert_eq!(first.documents(), made.len() as u32);
        let mut lists = Lists::default();
        lists.push(Growing::default(), 1.0, |_| 1.0);
        lists.push(first, 1.0, |_| 1.0);
        lists.push(Growing::default(), 1.0, |_| 1.0);
        lists.shrink();
        lists
    }

    fn made() -> Vec<(u32, u32)> {
        (0..1000_u32).map(|at| (at * at * 3 + at % 2, 1 + at % 5 * 100)).collect()
    }

    #[test]
    fn what_is_written_is_read_however_it_was_put_together() {
        for cut in [0, 1, 127, 128, 129, 999, 1000] {
            let lists = lists(&made(), cut);
            let mut cursor = lists.cursor(1);
            for (document, count) in made() {
                assert_eq!((cursor.document(), cursor.count()), (document, count));
                cursor.advance();
            }
            assert_eq!(cursor.document(), END);
            assert_eq!((lists.cursor(0).document(), lists.cursor(2).document()), (END, END));
            assert_eq!((lists.documents(1), lists.documents(7)), (1000, 0));
        }
    }

    #[test]
    fn seeking_finds_the_first_document_at_or_after() {
        let (lists, made) = (lists(&made(), 500), made());
        for stride in [1, 7, 130, 400] {
            let mut cursor = lists.cursor(1);
            for (document, _) in made.iter().step_by(stride) {
                assert!(cursor.seek(*document));
                assert!(!cursor.seek(document + 2) || made.iter().any(|(other, _)| *other == document + 2));
            }
            assert!(!cursor.seek(END - 1));
            assert_eq!(cursor.document(), END);
        }
    }

    #[test]
    fn a_block_knows_its_best_score() {
        let lists = lists(&made(), 300);
        let mut cursor = lists.cursor(1);
        assert_eq!(cursor.blocks().len(), 8);
        for (at, block) in cursor.blocks().iter().enumerate() {
            let mut best = 0.0_f32;
            let mut last = 0;
            cursor.read_block(at, |document, count| {
                best = best.max(score(1.0, 1.0, count));
                last = document;
            });
            assert_eq!((block.best, block.last), (best, last));
        }
    }
}
