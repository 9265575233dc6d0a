//! Pages of remembered keys and values: taken from one pool, shared between sessions, copied when a sharer writes.
//!
//! A [`KvCache`] holds what a session has read as a list of pages. Sessions with a common beginning hold the same pages;
//! only the last, partly filled page is ever written again, and a sequence that shares it copies it first. A page goes back to its
//! pool when its last holder lets go.

use merit_core::TokenId;
use merit_kernels::{Aligned, PAGE, PageData, PageLayout};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The memory that all pages come from.
#[derive(Debug)]
pub(crate) struct Pool {
    layout: PageLayout,
    most_pages: usize,
    held: AtomicUsize,
    next_id: AtomicU64,
    /// Memory of pages that are not in use.
    spare: Mutex<Vec<PageData>>,
}

/// Keys and values of up to [`PAGE`] positions in all layers.
#[derive(Debug)]
pub(crate) struct Page {
    /// Different for pages that hold different positions; never 0.
    id: u64,
    data: PageData,
    pool: Arc<Pool>,
}

impl Pool {
    /// Room for as many pages as fit in `bytes`.
    pub(crate) fn new(layout: PageLayout, bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            layout,
            most_pages: bytes / layout.bytes(),
            held: AtomicUsize::new(0),
            next_id: AtomicU64::new(1),
            spare: Mutex::new(Vec::new()),
        })
    }

    pub(crate) fn page_bytes(&self) -> usize {
        self.layout.bytes()
    }

    /// The most pages that may be held.
    pub(crate) fn most_pages(&self) -> usize {
        self.most_pages
    }

    /// Pages that may still be taken.
    pub(crate) fn left(&self) -> usize {
        self.most_pages.saturating_sub(self.held.load(Ordering::Relaxed))
    }

    fn fresh_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// A page of its own; what is in it is left over.
    fn take(self: &Arc<Self>) -> Page {
        self.held.fetch_add(1, Ordering::Relaxed);
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let data = spare.unwrap_or_else(|| self.layout.page());
        Page { id: self.fresh_id(), data, pool: Arc::clone(self) }
    }
}

impl Page {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.pool.held.fetch_sub(1, Ordering::Relaxed);
        let data = std::mem::replace(&mut self.data, PageData::F32(Aligned::none()));
        self.pool.spare.lock().unwrap_or_else(PoisonError::into_inner).push(data);
    }
}

/// What a session has read.
#[derive(Debug, Default)]
pub(crate) struct KvCache {
    tokens: Vec<TokenId>,
    pages: Vec<Arc<Page>>,
    /// Positions behind `tokens` may be left over in the last page: it must not keep its name when it is written again.
    cut: bool,
}

impl KvCache {
    /// Pages that hold these tokens, and perhaps some behind them.
    pub(crate) fn over(tokens: Vec<TokenId>, pages: Vec<Arc<Page>>) -> Self {
        debug_assert_eq!(tokens.len().div_ceil(PAGE), pages.len());
        Self { tokens, pages, cut: true }
    }

    /// The tokens behind the remembered positions.
    pub(crate) fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    /// Positions remembered.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn pages_mut(&mut self) -> &mut [Arc<Page>] {
        &mut self.pages
    }

    /// Forgets all positions from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.cut |= len < self.tokens.len();
        self.tokens.truncate(len);
        self.pages.truncate(self.tokens.len().div_ceil(PAGE));
    }

    /// The first `len` positions, in the same pages.
    pub(crate) fn prefix(&self, len: usize) -> Self {
        Self::over(self.tokens[..len].to_vec(), self.pages[..len.div_ceil(PAGE)].to_vec())
    }

    /// Pages that must be taken before `count` more positions can be written.
    pub(crate) fn wants(&self, count: usize) -> usize {
        if count == 0 {
            return 0;
        }
        let new = (self.len() + count).div_ceil(PAGE) - self.pages.len();
        let shared = !self.len().is_multiple_of(PAGE)
            && self.pages.last().is_some_and(|page| Arc::strong_count(page) > 1);
        new + usize::from(shared)
    }

    /// Makes the pages of the next `count` positions its own.
    pub(crate) fn reserve(&mut self, pool: &Arc<Pool>, count: usize) {
        if count == 0 {
            return;
        }
        if !self.len().is_multiple_of(PAGE)
            && let Some(last) = self.pages.pop()
        {
            self.pages.push(own(last, pool, self.cut));
        }
        self.cut = false;
        while self.pages.len() < (self.len() + count).div_ceil(PAGE) {
            self.pages.push(Arc::new(pool.take()));
        }
    }

    /// Says that a reserved position will be stored soon.
    pub(crate) fn expect(&self, layer: usize, position: usize) {
        let page = &self.pages[position / PAGE];
        page.pool.layout.expect(&page.data, layer, position % PAGE);
    }

    /// Stores one layer of a reserved position; `keys` and `values` hold all heads.
    pub(crate) fn write(&mut self, layer: usize, position: usize, keys: &[f32], values: &[f32]) {
        let page =
            Arc::get_mut(&mut self.pages[position / PAGE]).expect("a page is its own before it is written");
        page.pool.layout.write(&mut page.data, layer, position % PAGE, keys, values);
    }

    /// Makes reserved positions that were written count as remembered.
    pub(crate) fn remember(&mut self, tokens: impl IntoIterator<Item = TokenId>) {
        self.tokens.extend(tokens);
    }

    /// The pages' keys and values, in order.
    pub(crate) fn data(&self) -> impl ExactSizeIterator<Item = &PageData> {
        self.pages.iter().map(|page| &page.data)
    }
}

/// The page itself where it has no other holder, otherwise a copy. One that is listed somewhere, or was cut, gets a new name.
fn own(mut page: Arc<Page>, pool: &Arc<Pool>, cut: bool) -> Arc<Page> {
    if !cut && Arc::get_mut(&mut page).is_some() {
        return page;
    }
    Arc::new(match Arc::try_unwrap(page) {
        Ok(mut page) => {
            page.id = pool.fresh_id();
            page
        }
        Err(shared) => {
            let mut copy = pool.take();
            copy.data.copy_from(&shared.data);
            copy
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use merit_kernels::Precision;

    fn pool() -> Arc<Pool> {
        let text = r#"{"vocab":8,"layers":1,"d_model":8,"heads":2,"kv_heads":1,"d_ff":8,"max_context":512}"#;
        let config = serde_json::from_str(text).unwrap();
        Pool::new(PageLayout::of(&config, Precision::F32), 1 << 20)
    }

    fn read(memory: &mut KvCache, pool: &Arc<Pool>, tokens: std::ops::Range<u32>) {
        let (start, count) = (memory.len(), tokens.len());
        memory.reserve(pool, count);
        for (i, token) in tokens.clone().enumerate() {
            memory.write(0, start + i, &[token as f32; 4], &[token as f32; 4]);
        }
        memory.remember(tokens.map(TokenId));
    }

    /// The values remembered at each position: the pages of this shape hold 64 keys of 4, then values 16 apart.
    fn values(memory: &KvCache) -> Vec<u32> {
        let pages: Vec<&PageData> = memory.data().collect();
        let at = |page: &PageData, index: usize| match page {
            PageData::F32(data) => data[index] as u32,
            PageData::Bf16(_) => panic!("these pages are floats"),
        };
        (0..memory.len()).map(|i| at(pages[i / PAGE], 4 * PAGE + (i % PAGE) * 16)).collect()
    }

    #[test]
    fn forks_share_pages_and_copy_only_the_last() {
        let pool = pool();
        let mut trunk = KvCache::default();
        read(&mut trunk, &pool, 0..150);
        let held = |pool: &Pool| pool.most_pages() - pool.left();
        assert_eq!(held(&pool), 3);
        let mut forks: Vec<KvCache> = (0..8).map(|_| trunk.prefix(140)).collect();
        assert_eq!(held(&pool), 3, "a fork takes no page");
        assert_eq!(forks[0].wants(1), 1, "its first word takes a copy of the last");
        for (i, fork) in (0..).zip(&mut forks) {
            read(fork, &pool, 1000 * i..1000 * i + 10);
        }
        assert_eq!(held(&pool), 3 + 8);
        for (i, fork) in (0..).zip(&forks) {
            let want: Vec<u32> = (0..140).chain(1000 * i..1000 * i + 10).collect();
            assert_eq!(values(fork), want);
        }
        assert_eq!(values(&trunk), (0..150).collect::<Vec<_>>());
        drop(trunk);
        assert_eq!(held(&pool), 2 + 8, "two whole pages are shared by all");
        drop(forks);
        assert_eq!(held(&pool), 0);
    }

    #[test]
    fn a_page_that_is_written_again_gets_a_new_name() {
        let pool = pool();
        let mut memory = KvCache::default();
        read(&mut memory, &pool, 0..40);
        let name = memory.pages[0].id();
        read(&mut memory, &pool, 40..50);
        assert_eq!(memory.pages[0].id(), name, "it only grew");
        memory.truncate(30);
        read(&mut memory, &pool, 90..95);
        assert_ne!(memory.pages[0].id(), name);
        assert_eq!(values(&memory), (0..30).chain(90..95).collect::<Vec<_>>());
    }
}
