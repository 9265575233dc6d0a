//! The word index of texts as bytes, to be kept in a file and read back.
//!
//! The keeper of the bytes answers for them: what is cut or of another format is refused here, what was altered is not seen.

use super::WordIndex;
use super::bm25::Norms;
use super::field::Field;
use super::postings::{Block, Lists, Place};
use crate::IndexConfig;
use crate::analysis::Analyser;
use crate::digest::FORMAT;
use std::collections::HashMap;

impl WordIndex {
    /// Everything but the titles, which texts do not have.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        put(FORMAT.as_bytes(), bytes);
        let mut words: Vec<(&str, u32)> = self.text.words.iter().map(|(word, at)| (&**word, *at)).collect();
        words.sort_unstable_by_key(|(_, list)| *list);
        put_all(&words, bytes, |(word, _), bytes| put(word.as_bytes(), bytes));
        let Lists { places, blocks, bytes: lists } = &self.text.lists;
        put_all(places, bytes, |place, bytes| {
            numbers(&[place.documents, place.first_block], bytes);
            bytes.extend((place.first_byte as u64).to_le_bytes());
        });
        put_all(blocks, bytes, |block, bytes| numbers(&[block.last, block.end, block.best.to_bits()], bytes));
        put(lists, bytes);
        put(&self.text.lengths, bytes);
        numbers(&self.text.norms.0.map(f32::to_bits), bytes);
    }

    /// What [`WordIndex::write`] wrote; nothing where the bytes are not that.
    pub(crate) fn read(mut bytes: &[u8], config: &IndexConfig) -> Option<Self> {
        let from = &mut bytes;
        if take(from)? != FORMAT.as_bytes() {
            return None;
        }
        let words = take_all(from, |from| Some(std::str::from_utf8(take(from)?).ok()?.into()))?;
        let places = take_all(from, |from| {
            let (documents, first_block) = (number(from)?, number(from)?);
            Some(Place { documents, first_block, first_byte: length(from)? })
        })?;
        let blocks = take_all(from, |from| {
            let (last, end) = (number(from)?, number(from)?);
            Some(Block { last, end, best: f32::from_bits(number(from)?) })
        })?;
        let lists = Lists { places, blocks, bytes: take(from)?.to_vec() };
        let lengths = take(from)?.to_vec();
        let mut norms = [0.0; 256];
        for norm in &mut norms {
            *norm = f32::from_bits(number(from)?);
        }
        let words: HashMap<Box<str>, u32> = words.into_iter().zip(0..).collect();
        let analyser = Analyser::new(config.stemming, config.stop_words);
        let all = lengths.len() as u32;
        let text = Field { words, lists, lengths, norms: Norms(norms) };
        let title = Field::build(&[], &analyser, |none: &String| none);
        from.is_empty().then_some(Self { analyser, title, text, title_boost: 0.0, all })
    }
}

fn numbers(numbers: &[u32], bytes: &mut Vec<u8>) {
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
}

/// Its length, then the bytes.
fn put(part: &[u8], bytes: &mut Vec<u8>) {
    bytes.extend((part.len() as u64).to_le_bytes());
    bytes.extend(part);
}

fn put_all<T>(all: &[T], bytes: &mut Vec<u8>, each: impl Fn(&T, &mut Vec<u8>)) {
    bytes.extend((all.len() as u64).to_le_bytes());
    all.iter().for_each(|one| each(one, bytes));
}

fn number(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*number))
}

fn length(bytes: &mut &[u8]) -> Option<usize> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    usize::try_from(u64::from_le_bytes(*number)).ok()
}

fn take<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = length(bytes)?;
    let (part, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

fn take_all<T>(bytes: &mut &[u8], each: impl Fn(&mut &[u8]) -> Option<T>) -> Option<Vec<T>> {
    (0..length(bytes)?).map(|_| each(bytes)).collect()
}
