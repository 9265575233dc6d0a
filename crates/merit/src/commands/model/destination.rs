//! Where a model is written: not over anything without being told so, and not onto a disk that is too small.

use crate::commands::WrongInput;
use anyhow::{Result, bail};
use merit_formats::{DecoderConfig, Encoding, TensorRole, expected_tensors};
use merit_store::preflight;
use std::path::Path;

/// What settings, tokenizer and heads of files take at most, beside the weights.
const BESIDE: u64 = 64 << 20;

/// Refuses a destination that is in the way, is one of `sources`, or lacks room for a model in this encoding.
pub(super) fn check(
    to: &Path,
    sources: &[&Path],
    config: &DecoderConfig,
    encoding: Encoding,
    force: bool,
) -> Result<()> {
    let shown = to.display();
    let real = to.canonicalize().ok();
    if real.is_some() && sources.iter().any(|source| source.canonicalize().ok() == real) {
        bail!(WrongInput(format!("{shown} is what is read; name another place")));
    }
    if to.symlink_metadata().is_ok() && !force {
        bail!(WrongInput(format!("{shown} is there already; --force replaces it")));
    }
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !parent.is_dir() {
        bail!(WrongInput(format!("{} is no folder, so {shown} cannot be written", parent.display())));
    }
    // What is replaced stays until the new is whole, so the room is needed beside it.
    preflight(parent, bytes(config, encoding).saturating_add(BESIDE))?;
    Ok(())
}

/// Bytes of the weights; vectors are always four bytes a value, and so is what does not fill blocks, at most.
fn bytes(config: &DecoderConfig, encoding: Encoding) -> u64 {
    let of = |tensor: &merit_formats::ExpectedTensor| {
        let values = tensor.shape.iter().product::<usize>();
        let encoding = if tensor.role == TensorRole::Matrix { encoding } else { Encoding::F32 };
        encoding.bytes_for(values).unwrap_or(values.saturating_mul(4)) as u64
    };
    expected_tensors(config).iter().map(of).sum()
}
