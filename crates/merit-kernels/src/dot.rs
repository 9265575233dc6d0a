//! Which unit multiplies bf16; chosen once, carried as a value.
//!
//! Every unit sums the products of one output element in its own fixed chain, over steps of 32:
//! - `amx` and `portable`: from zero, the sixteen even products of a step one after the other and the sixteen odd ones
//!   likewise; the two added; that added to the result. Fused multiply-adds throughout.
//! - `avx512-bf16`: into the result, pair after pair, the odd product before the even one.
//!
//! So a run on one unit of a chain can be repeated on the other to the bit. The one exception: the processor's units take
//! sums below the smallest normal number (1.2e-38) for zero, the portable one keeps them.

#[cfg(target_arch = "x86_64")]
use crate::{Isa, amx, isa::Kind};
use std::sync::OnceLock;

/// A unit for products of bf16 that this machine was found to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dot(Unit);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    #[cfg(target_arch = "x86_64")]
    Amx,
    #[cfg(target_arch = "x86_64")]
    Avx512Bf16,
    Portable,
}

impl Dot {
    /// The fastest one here; looked up once per process.
    pub fn best() -> Self {
        static BEST: OnceLock<Dot> = OnceLock::new();
        *BEST.get_or_init(|| Self::available()[0])
    }

    /// All that work here, fastest first; never empty.
    pub fn available() -> Vec<Self> {
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        if Isa::best().kind() == Kind::Avx512 && is_x86_feature_detected!("avx512bf16") {
            if amx::permitted() {
                found.push(Self(Unit::Amx));
            }
            found.push(Self(Unit::Avx512Bf16));
        }
        found.push(Self(Unit::Portable));
        found
    }

    /// The unit that adds in the same order as `amx` and runs anywhere.
    pub fn portable() -> Self {
        Self(Unit::Portable)
    }

    /// How it is called in reports.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Unit::Amx => "amx",
            #[cfg(target_arch = "x86_64")]
            Unit::Avx512Bf16 => "avx512-bf16",
            Unit::Portable => "portable",
        }
    }

    /// Whether both give the same bits.
    ///
    /// ```
    /// use merit_kernels::Dot;
    /// assert!(Dot::portable().same_chain(Dot::portable()));
    /// ```
    pub fn same_chain(self, other: Self) -> bool {
        self.chain() == other.chain()
    }

    fn chain(self) -> usize {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Unit::Avx512Bf16 => 1,
            _ => 0,
        }
    }

    pub(crate) fn unit(self) -> Unit {
        self.0
    }

    /// Whether it is AMX.
    pub(crate) fn has_tiles(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0 == Unit::Amx;
        #[cfg(not(target_arch = "x86_64"))]
        false
    }
}
