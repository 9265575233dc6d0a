//! Matrix tiles of the processor (AMX): permission, configuration, and one block of up to 32 × 32 results.

// Tile instructions have no intrinsics; assembly on raw pointers, whose extents the caller has checked.
#![allow(unsafe_code)]

use crate::gemm_bf16::Block;
use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::sync::OnceLock;

/// Whether the processor has the tiles and the system lets this process use them; asked once.
pub(crate) fn permitted() -> bool {
    static PERMITTED: OnceLock<bool> = OnceLock::new();
    *PERMITTED.get_or_init(|| present() && ask())
}

fn present() -> bool {
    const TILE: u32 = 1 << 24;
    const BF16: u32 = 1 << 22;
    const XSAVE: u32 = 1 << 27;
    let leaves = __cpuid(0).eax;
    leaves >= 0x1d
        && __cpuid(1).ecx & XSAVE != 0
        && __cpuid_count(7, 0).edx & (TILE | BF16) == TILE | BF16
        && tile_state_enabled()
}

/// Whether the system saves tile configuration and data (bits 17 and 18) when it switches threads.
fn tile_state_enabled() -> bool {
    let (low, high): (u32, u32);
    // SAFETY: `present` found XSAVE enabled by the system, which makes this instruction legal.
    unsafe { asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high, options(nomem, nostack)) };
    let _ = high;
    low & (0b11 << 17) == 0b11 << 17
}

/// On Linux a process must ask before its first tile; the answer holds for all its threads.
#[cfg(target_os = "linux")]
fn ask() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: u64 = 0x1023;
    const TILE_DATA: u64 = 18;
    let mut result = ARCH_PRCTL;
    // SAFETY: a system call that takes two numbers and touches no memory of ours.
    unsafe {
        asm!("syscall", inout("rax") result, in("rdi") ARCH_REQ_XCOMP_PERM, in("rsi") TILE_DATA,
            out("rcx") _, out("r11") _, options(nostack));
    }
    result == 0
}

#[cfg(not(target_os = "linux"))]
fn ask() -> bool {
    false
}

/// Bytes of a tile's row.
const ROW_BYTES: usize = 64;
/// Rows of a tile.
const ROWS: usize = 16;

#[repr(C, align(64))]
struct Configuration([u8; 64]);

impl Configuration {
    /// Tiles 0 to 3 are results, 4 and 5 the left matrix, 6 and 7 the right one.
    fn for_rows(rows: usize) -> Self {
        let (upper, lower) = (rows.min(ROWS), rows.saturating_sub(ROWS).max(1));
        let heights = [upper, upper, lower, lower, upper, lower, ROWS, ROWS];
        let mut bytes = [0; 64];
        bytes[0] = 1;
        for (tile, height) in heights.into_iter().enumerate() {
            bytes[16 + 2 * tile] = ROW_BYTES as u8;
            bytes[48 + tile] = height as u8;
        }
        Self(bytes)
    }
}

/// The tiles of this thread, set up for blocks of a number of rows; given back when dropped, so that the system need not
/// save them.
pub(crate) struct TilesOfThread {
    rows: usize,
}

impl TilesOfThread {
    /// Needs `permitted`.
    pub(crate) fn new() -> Self {
        assert!(permitted(), "tiles are used only where the system permits them");
        Self { rows: 0 }
    }

    fn configure(&mut self, rows: usize) {
        if self.rows != rows {
            let configuration = Configuration::for_rows(rows);
            // SAFETY: a valid configuration of 64 bytes; `new` checked the permission.
            unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const configuration, options(nostack, readonly)) };
            self.rows = rows;
        }
    }

    /// # Safety
    /// All that `Block` promises.
    pub(crate) unsafe fn run(&mut self, block: Block) {
        self.configure(block.rows);
        // SAFETY: the extents that `Block` promises, with as many rows as were configured.
        unsafe {
            match (block.rows > ROWS, block.wide) {
                (true, true) => two_by_two(block),
                (true, false) => two_by_one(block),
                (false, true) => one_by_two(block),
                (false, false) => one_by_one(block),
            }
        }
    }
}

impl Drop for TilesOfThread {
    fn drop(&mut self) {
        if self.rows != 0 {
            // SAFETY: `ldtilecfg` was legal before; nothing is kept in tiles between blocks.
            unsafe { asm!("tilerelease", options(nomem, nostack)) };
        }
    }
}

/// One function per shape of block: how the results are fetched and stored, and what one step of the sum does.
macro_rules! block {
    ($name:ident, zero: [$($zero:literal)*], fetch: [$($fetch:literal)*], step: [$($step:literal)*], store: [$($store:literal)*]) => {
        unsafe fn $name(t: Block) {
            // SAFETY: reads `steps` tiles of both sides, reads (on resuming) and writes the results, as promised by
            // `Block`; the pointers to a second row or column of tiles are used only by shapes that have one.
            unsafe {
                asm!(
                    "test {resume:e}, {resume:e}",
                    "jnz 2f",
                    $($zero,)*
                    "jmp 3f",
                    "2:",
                    $($fetch,)*
                    "3:",
                    $($step,)*
                    "add {a}, 1024",
                    "add {a_low}, 1024",
                    "add {b}, 1024",
                    "add {b_right}, 1024",
                    "dec {steps}",
                    "jnz 3b",
                    $($store,)*
                    "# {c_low}",
                    c = in(reg) t.c,
                    c_low = in(reg) t.c.wrapping_add(ROWS * t.c_row),
                    c_stride = in(reg) t.c_row * size_of::<f32>(),
                    a = inout(reg) t.a => _,
                    a_low = inout(reg) t.a.wrapping_add(t.a_tile) => _,
                    b = inout(reg) t.b => _,
                    b_right = inout(reg) t.b.wrapping_add(t.b_tile) => _,
                    line = in(reg) ROW_BYTES,
                    steps = inout(reg) t.steps => _,
                    resume = in(reg) u32::from(t.resume),
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                    out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                    options(nostack),
                );
            }
        }
    };
}

block!(two_by_two,
    zero: ["tilezero tmm0" "tilezero tmm1" "tilezero tmm2" "tilezero tmm3"],
    fetch: [
        "tileloadd tmm0, [{c} + {c_stride}]"
        "tileloadd tmm1, [{c} + {c_stride} + 64]"
        "tileloadd tmm2, [{c_low} + {c_stride}]"
        "tileloadd tmm3, [{c_low} + {c_stride} + 64]"
    ],
    step: [
        "tileloadd tmm6, [{b} + {line}]"
        "tileloadd tmm4, [{a} + {line}]"
        "tdpbf16ps tmm0, tmm4, tmm6"
        "tileloadd tmm7, [{b_right} + {line}]"
        "tdpbf16ps tmm1, tmm4, tmm7"
        "tileloadd tmm5, [{a_low} + {line}]"
        "tdpbf16ps tmm2, tmm5, tmm6"
        "tdpbf16ps tmm3, tmm5, tmm7"
    ],
    store: [
        "tilestored [{c} + {c_stride}], tmm0"
        "tilestored [{c} + {c_stride} + 64], tmm1"
        "tilestored [{c_low} + {c_stride}], tmm2"
        "tilestored [{c_low} + {c_stride} + 64], tmm3"
    ]
);

block!(two_by_one,
    zero: ["tilezero tmm0" "tilezero tmm2"],
    fetch: ["tileloadd tmm0, [{c} + {c_stride}]" "tileloadd tmm2, [{c_low} + {c_stride}]"],
    step: [
        "tileloadd tmm6, [{b} + {line}]"
        "tileloadd tmm4, [{a} + {line}]"
        "tdpbf16ps tmm0, tmm4, tmm6"
        "tileloadd tmm5, [{a_low} + {line}]"
        "tdpbf16ps tmm2, tmm5, tmm6"
    ],
    store: ["tilestored [{c} + {c_stride}], tmm0" "tilestored [{c_low} + {c_stride}], tmm2"]
);

block!(one_by_two,
    zero: ["tilezero tmm0" "tilezero tmm1"],
    fetch: ["tileloadd tmm0, [{c} + {c_stride}]" "tileloadd tmm1, [{c} + {c_stride} + 64]"],
    step: [
        "tileloadd tmm6, [{b} + {line}]"
        "tileloadd tmm4, [{a} + {line}]"
        "tdpbf16ps tmm0, tmm4, tmm6"
        "tileloadd tmm7, [{b_right} + {line}]"
        "tdpbf16ps tmm1, tmm4, tmm7"
    ],
    store: ["tilestored [{c} + {c_stride}], tmm0" "tilestored [{c} + {c_stride} + 64], tmm1"]
);

block!(one_by_one,
    zero: ["tilezero tmm0"],
    fetch: ["tileloadd tmm0, [{c} + {c_stride}]"],
    step: [
        "tileloadd tmm6, [{b} + {line}]"
        "tileloadd tmm4, [{a} + {line}]"
        "tdpbf16ps tmm0, tmm4, tmm6"
    ],
    store: ["tilestored [{c} + {c_stride}], tmm0"]
);

/// Floating-point operations of one round of [`loop_of_products`]: four products of 16 × 16 × 32.
pub(crate) const LOOP_FLOPS: f64 = (4 * 2 * 16 * 16 * 32) as f64;

/// Products of blank tiles, for measuring what the unit does at best.
pub(crate) fn loop_of_products(rounds: usize) {
    assert!(rounds > 0, "the loop counts down to zero");
    let mut tiles = TilesOfThread::new();
    tiles.configure(2 * ROWS);
    // SAFETY: the tiles are configured and permitted; no memory is touched.
    unsafe {
        asm!(
            "tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3",
            "tilezero tmm4", "tilezero tmm6",
            "2:",
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tdpbf16ps tmm1, tmm4, tmm6",
            "tdpbf16ps tmm2, tmm4, tmm6",
            "tdpbf16ps tmm3, tmm4, tmm6",
            "dec {rounds}",
            "jnz 2b",
            rounds = inout(reg) rounds => _,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _, out("tmm4") _, out("tmm6") _,
            options(nomem, nostack),
        );
    }
}
