//! Which pages already hold the beginning of a context: a tree of pages, found by hash.
//!
//! A page is listed under the page before it and its own first tokens, in steps of sixteen. A lookup walks the context page
//! by page, so its cost is the context's length, however many sessions there are. A listed page that is written again or
//! let go drops out by itself.

use crate::cache::{KvCache, Page};
use merit_core::TokenId;
use merit_kernels::PAGE;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Weak};

/// Tokens between the lengths under which a page is listed.
const STEP: usize = 16;
/// The parent of first pages.
const ROOT: u64 = 0;

/// The pages of sessions that are not at work.
#[derive(Debug, Default)]
pub(crate) struct PrefixIndex {
    entries: HashMap<u64, Entry>,
    /// Entries at which those of pages that are gone are swept out.
    sweep_at: usize,
}

#[derive(Debug)]
struct Entry {
    parent: u64,
    tokens: Arc<[TokenId]>,
    page: Weak<Page>,
}

impl PrefixIndex {
    /// Lists the pages of a memory; a whole page that is listed already takes the place of this memory's own.
    pub(crate) fn list(&mut self, memory: &mut KvCache) {
        let tokens = memory.tokens().to_vec();
        let mut parent = ROOT;
        for (chunk, page) in tokens.chunks(PAGE).zip(memory.pages_mut()) {
            if let Some((same, PAGE)) = self.page(parent, chunk) {
                *page = same;
            } else {
                let tokens: Arc<[TokenId]> = chunk.into();
                for len in (STEP..=chunk.len()).step_by(STEP) {
                    let (tokens, page) = (Arc::clone(&tokens), Arc::downgrade(page));
                    self.entries.insert(key(parent, &chunk[..len]), Entry { parent, tokens, page });
                }
            }
            parent = page.id();
        }
        if self.entries.len() > self.sweep_at {
            self.entries.retain(|_, entry| entry.page.strong_count() > 0);
            self.sweep_at = 2 * self.entries.len() + 1024;
        }
    }

    /// The listed pages that hold the beginning of `context`; possibly none.
    pub(crate) fn find(&self, context: &[TokenId]) -> KvCache {
        let (mut pages, mut len, mut parent) = (Vec::new(), 0, ROOT);
        while let Some((page, shared)) = self.page(parent, &context[len..]) {
            parent = page.id();
            len += shared;
            pages.push(page);
            if shared < PAGE {
                break;
            }
        }
        KvCache::over(context[..len].to_vec(), pages)
    }

    /// A page behind `parent` that begins like `context`, and for how many tokens it does.
    fn page(&self, parent: u64, context: &[TokenId]) -> Option<(Arc<Page>, usize)> {
        let steps = context.len().min(PAGE) / STEP;
        (1..=steps).rev().map(|steps| steps * STEP).find_map(|len| {
            let entry = self.entries.get(&key(parent, &context[..len]))?;
            // Equal keys are not yet equal tokens.
            let shared = common_prefix(&entry.tokens, context);
            let page = entry.page.upgrade().filter(|_| entry.parent == parent && shared >= len)?;
            Some((page, shared))
        })
    }
}

/// How many tokens two contexts share from the start.
pub(crate) fn common_prefix(a: &[TokenId], b: &[TokenId]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn key(parent: u64, tokens: &[TokenId]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (parent, tokens).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)] // Token sequences are written as lists of ranges, of one range too.
mod tests {
    use super::*;
    use crate::cache::Pool;
    use merit_kernels::{PageLayout, Precision};

    fn pool() -> Arc<Pool> {
        let text = r#"{"vocab":8,"layers":1,"d_model":8,"heads":2,"kv_heads":1,"d_ff":8,"max_context":512}"#;
        let layout = PageLayout::of(&serde_json::from_str(text).unwrap(), Precision::F32);
        Pool::new(layout, 1 << 24)
    }

    fn tokens(parts: &[std::ops::Range<u32>]) -> Vec<TokenId> {
        parts.iter().cloned().flatten().map(TokenId).collect()
    }

    fn read(pool: &Arc<Pool>, tokens: Vec<TokenId>) -> KvCache {
        let mut memory = KvCache::default();
        memory.reserve(pool, tokens.len());
        memory.remember(tokens);
        memory
    }

    #[test]
    fn the_longest_listed_beginning_is_found_page_by_page() {
        let (pool, mut index) = (pool(), PrefixIndex::default());
        let mut long = read(&pool, tokens(&[0..210]));
        let mut other = read(&pool, tokens(&[0..70, 900..1000]));
        index.list(&mut long);
        index.list(&mut other);
        let found = |context: &[TokenId]| index.find(context).len();
        assert_eq!(found(&tokens(&[0..300])), 210);
        // 64 of the first page, then the page that parts at 70.
        assert_eq!(found(&tokens(&[0..70, 900..1000])), 170);
        assert_eq!(found(&tokens(&[0..150, 7..90])), 150);
        assert_eq!(found(&tokens(&[0..12])), 0, "less than a step");
        assert_eq!(found(&tokens(&[5..90])), 0);
        assert_eq!(found(&[]), 0);
        // The first page is one and the same for both.
        assert_eq!(pool.most_pages() - pool.left(), 4 + 2);
    }

    #[test]
    fn pages_that_are_gone_or_written_again_are_not_found() {
        let (pool, mut index) = (pool(), PrefixIndex::default());
        let (mut kept, mut gone) = (read(&pool, tokens(&[0..40])), read(&pool, tokens(&[500..600])));
        index.list(&mut kept);
        index.list(&mut gone);
        drop(gone);
        assert_eq!(index.find(&tokens(&[500..600])).len(), 0);
        kept.truncate(20);
        kept.reserve(&pool, 10);
        kept.remember(tokens(&[700..710]));
        assert_eq!(index.find(&tokens(&[0..40])).len(), 0, "listed again only when it is idle again");
        index.list(&mut kept);
        assert_eq!(index.find(&tokens(&[0..40])).len(), 20);
        assert_eq!(index.find(&tokens(&[0..20, 700..800])).len(), 30);
    }

    #[test]
    fn a_page_rewritten_behind_the_same_parent_does_not_inherit_children() {
        let (pool, mut index) = (pool(), PrefixIndex::default());
        let mut first = read(&pool, tokens(&[0..130]));
        index.list(&mut first);
        // A fork keeps the second page alive while the first page is rewritten in place.
        let fork = first.prefix(130);
        first.truncate(10);
        first.reserve(&pool, 54);
        first.remember(tokens(&[800..854]));
        index.list(&mut first);
        let found = index.find(&tokens(&[0..10, 800..854, 64..130]));
        assert_eq!(found.len(), 64);
        drop(fork);
    }

    #[test]
    fn entries_of_lost_pages_are_swept_out() {
        let (pool, mut index) = (pool(), PrefixIndex::default());
        for i in 0..3000 {
            index.list(&mut read(&pool, tokens(&[1000 * i..1000 * i + 64])));
        }
        assert!(index.entries.len() < 2100, "{}", index.entries.len());
    }
}
