//! A program of its own, because it counts with an allocator of its own: whatever bytes a file has, opening and reading it neither panics nor asks for more memory than the file explains.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(unsafe_code, reason = "counting allocations takes an allocator")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "it/support/mod.rs"]
mod support;

use merit_formats::{
    Encoding, Family, GgufExtras, HfExtras, HfOptions, ModelFiles, Special, save_gguf, save_hf,
};
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::{tiny, weights};

/// Hands everything to the system and remembers the largest request.
struct Counting;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

static GGUF: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.gguf");
    let config = tiny(Family::Gemma3);
    save_gguf(&path, &config, weights(&config), &GgufExtras::default(), Encoding::Q8_0).unwrap();
    std::fs::read(path).unwrap()
});

/// Config and weights.
static FOLDER: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("m");
    let config = tiny(Family::Qwen2);
    let special = Special::default();
    let extras = HfExtras { tokenizer_json: None, chat_template: None, special: &special };
    let options = HfOptions { encoding: Encoding::Bf16, ..HfOptions::default() };
    save_hf(&folder, &config, weights(&config), &extras, options).unwrap();
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    (read("config.json"), read("model.safetensors"))
});

/// Flips of single bytes, most of them in the head, and perhaps a cut.
fn damage(length: usize, head: usize) -> impl Strategy<Value = (Vec<(usize, u8)>, usize)> {
    let place = prop_oneof![9 => 0..head, 1 => 0..length];
    let flips = prop::collection::vec((place, any::<u8>()), 1..6);
    let cut = prop_oneof![4 => Just(length), 1 => 0..length];
    (flips, cut)
}

fn damaged(bytes: &[u8], (flips, cut): &(Vec<(usize, u8)>, usize)) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    flips.iter().for_each(|&(at, byte)| bytes[at] = byte);
    bytes.truncate(*cut);
    bytes
}

/// Opens a model and reads all of it; errors are fine.
fn read_all(path: &Path) {
    let Ok(files) = ModelFiles::open(path) else { return };
    files.describe();
    files.named_tensors().for_each(drop);
}

/// The largest tensor is 96 x 64 values; the file 130 kB.
const ENOUGH: usize = 2 << 20;

fn stays_small(path: &Path) -> Result<(), TestCaseError> {
    LARGEST.store(0, Ordering::Relaxed);
    read_all(path);
    let largest = LARGEST.load(Ordering::Relaxed);
    prop_assert!(largest < ENOUGH, "{largest} bytes at once");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_gguf_file_is_an_error_or_a_model(damage in damage(GGUF.len(), 4600)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.gguf");
        std::fs::write(&path, damaged(&GGUF, &damage)).unwrap();
        stays_small(&path)?;
    }

    #[test]
    fn a_damaged_folder_is_an_error_or_a_model(
        config in damage(FOLDER.0.len(), FOLDER.0.len()),
        weights in damage(FOLDER.1.len(), 4600),
        which in 0..2_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (whole_config, whole_weights) = &*FOLDER;
        let config = if which == 0 { damaged(whole_config, &config) } else { whole_config.clone() };
        let weights = if which == 1 { damaged(whole_weights, &weights) } else { whole_weights.clone() };
        std::fs::write(folder.path().join("config.json"), config).unwrap();
        std::fs::write(folder.path().join("model.safetensors"), weights).unwrap();
        stays_small(folder.path())?;
    }
}
