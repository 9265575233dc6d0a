//! The encodings as the kernels see them: where scales and codes of sixteen columns lie, and how a code becomes a weight.
//!
//! A block is a head, then groups; a group is its scales, its high bits where codes have more than four, and lines of codes.
//! Every product of a scale and a code fits the 24 bits of an `f32`, so a weight is rounded at most once, when its lowest value
//! is added: it has the bits that `merit_formats` decodes.

// Reads scales and codes through raw pointers, inside the bytes that `Shape` counts.
#![allow(unsafe_code)]

use super::lanes::Lanes;

/// Bytes of sixteen columns in one line of codes.
pub(super) const LINE: usize = 64;

/// How sixteen columns of a block are laid down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Inputs in a line of codes.
    pub(super) run: usize,
    /// Lines of codes in a group.
    pub(super) runs: usize,
    /// Groups in a block.
    pub(super) groups: usize,
    /// Half-precision numbers of a column at the head of a block.
    pub(super) head: usize,
    /// Half-precision numbers of a column at the head of a group.
    pub(super) halves: usize,
    /// Bytes of a column behind them.
    pub(super) bytes: usize,
    /// Bits of a code above its lowest four, which lie apart.
    pub(super) high_bits: usize,
}

impl Shape {
    const PLAIN: Self = Self { run: 8, runs: 4, groups: 1, head: 0, halves: 0, bytes: 0, high_bits: 0 };

    /// Inputs in a group.
    pub(super) const fn group(&self) -> usize {
        self.run * self.runs
    }

    /// Inputs in a block.
    pub(super) const fn block(&self) -> usize {
        self.group() * self.groups
    }

    /// Bytes of sixteen columns at the head of a block.
    pub(super) const fn head_bytes(&self) -> usize {
        self.head * 32
    }

    /// Bytes of sixteen columns at the head of a group.
    pub(super) const fn scale_bytes(&self) -> usize {
        self.halves * 32 + self.bytes * 16
    }

    /// Bytes of the high bits of sixteen columns of a group.
    pub(super) const fn high_bytes(&self) -> usize {
        if self.high_bits > 0 { LINE } else { 0 }
    }

    /// Bytes of sixteen columns of a group.
    pub(super) const fn group_bytes(&self) -> usize {
        self.scale_bytes() + self.high_bytes() + self.runs * LINE
    }

    /// Bytes of sixteen columns of a block.
    pub(super) const fn block_bytes(&self) -> usize {
        self.head_bytes() + self.groups * self.group_bytes()
    }
}

/// What becomes of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// It is the weight.
    Plain,
    /// Times the factor.
    Scaled,
    /// Times the factor, plus the lowest value.
    Affine,
}

/// One encoding. The pointers are those of one strip of sixteen columns; `L` says what the CPU must have.
pub(super) trait Scheme {
    const SHAPE: Shape;
    const RULE: Rule;

    /// Factor and lowest value of a group, from the head of its block and its own.
    unsafe fn scales<L: Lanes>(head: *const u8, group: *const u8) -> [L::Floats; 2];

    /// The codes of the next input as numbers, and the step to the one behind it.
    unsafe fn code<L: Lanes>(codes: &mut Codes<L>) -> L::Floats;

    /// The weights of the next input, and the step to the one behind it.
    #[inline(always)]
    unsafe fn next<L: Lanes>(codes: &mut Codes<L>, [factor, low]: [L::Floats; 2]) -> L::Floats {
        // SAFETY: as `code`.
        unsafe {
            let code = Self::code(codes);
            match Self::RULE {
                Rule::Plain => code,
                Rule::Scaled => L::multiply(factor, code),
                Rule::Affine => L::fma(factor, code, low),
            }
        }
    }
}

/// A line of codes being read.
pub(super) struct Codes<L: Lanes> {
    pub(super) at: *const u8,
    pub(super) words: L::Words,
    pub(super) high: L::Words,
}

impl<L: Lanes> Clone for Codes<L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Lanes> Copy for Codes<L> {}

impl<L: Lanes> Codes<L> {
    #[inline(always)]
    unsafe fn four<const LOW: i32>(&mut self) -> L::Floats {
        // SAFETY: the caller has the features of `L`.
        unsafe {
            let codes = L::four_bits::<LOW>(self.words);
            self.words = L::shift_by_4(self.words);
            codes
        }
    }

    #[inline(always)]
    unsafe fn five<const LOW: i32>(&mut self) -> L::Floats {
        // SAFETY: the caller has the features of `L`.
        unsafe {
            let codes = L::five_bits::<LOW>(self.words, self.high);
            (self.words, self.high) = (L::shift_by_4(self.words), L::rotate_by_1(self.high));
            codes
        }
    }

    #[inline(always)]
    unsafe fn six(&mut self) -> L::Floats {
        // SAFETY: the caller has the features of `L`.
        unsafe {
            let codes = L::six_bits(self.words, self.high);
            (self.words, self.high) = (L::shift_by_4(self.words), L::rotate_by_2(self.high));
            codes
        }
    }

    /// Steps over `bytes` of the line.
    #[inline(always)]
    fn take(&mut self, bytes: usize) -> *const u8 {
        let at = self.at;
        self.at = at.wrapping_add(bytes);
        at
    }
}

macro_rules! schemes {
    ($($(#[$doc:meta])* $name:ident: $rule:ident { $($shape:tt)* }
        scales($head:ident, $group:ident) $scales:block
        code($codes:ident) $code:block)*) => { $(
        $(#[$doc])*
        pub(super) struct $name;

        impl Scheme for $name {
            const SHAPE: Shape = Shape { $($shape)*, ..Shape::PLAIN };
            const RULE: Rule = Rule::$rule;

            #[inline(always)]
            unsafe fn scales<L: Lanes>($head: *const u8, $group: *const u8) -> [L::Floats; 2] {
                // SAFETY: reads what `SHAPE` counts for the heads of a strip.
                unsafe { $scales }
            }

            #[inline(always)]
            unsafe fn code<L: Lanes>($codes: &mut Codes<L>) -> L::Floats {
                // SAFETY: reads inside the line that `codes` was opened with.
                unsafe { $code }
            }
        }
    )* };
}

schemes! {
    /// `d * (q - 8)`
    Q4_0: Scaled { halves: 1 }
    scales(_head, group) { [L::halves(group), L::splat(0.0)] }
    code(codes) { codes.four::<-8>() }

    /// `d * q + m`
    Q4_1: Affine { halves: 2 }
    scales(_head, group) { [L::halves(group), L::halves(group.add(32))] }
    code(codes) { codes.four::<0>() }

    /// `d * (q - 16)`
    Q5_0: Scaled { halves: 1, high_bits: 1 }
    scales(_head, group) { [L::halves(group), L::splat(0.0)] }
    code(codes) { codes.five::<-16>() }

    /// `d * q + m`
    Q5_1: Affine { halves: 2, high_bits: 1 }
    scales(_head, group) { [L::halves(group), L::halves(group.add(32))] }
    code(codes) { codes.five::<0>() }

    /// `d * q`
    Q8_0: Scaled { run: 4, runs: 8, halves: 1 }
    scales(_head, group) { [L::halves(group), L::splat(0.0)] }
    code(codes) { L::signed_bytes(codes.take(16)) }

    /// `d * scale * q - m * low`
    Q4K: Affine { groups: 8, head: 2, bytes: 2 }
    scales(head, group) { affine::<L>(head, group) }
    code(codes) { codes.four::<0>() }

    /// `d * scale * q - m * low`
    Q5K: Affine { groups: 8, head: 2, bytes: 2, high_bits: 1 }
    scales(head, group) { affine::<L>(head, group) }
    code(codes) { codes.five::<0>() }

    /// `d * scale * (q - 32)`
    Q6K: Scaled { runs: 2, groups: 16, head: 1, bytes: 1, high_bits: 2 }
    scales(head, group) { [L::multiply(L::halves(head), L::signed_bytes(group)), L::splat(0.0)] }
    code(codes) { codes.six() }

    /// Half precision.
    F16: Plain { run: 2, runs: 16 }
    scales(_head, _group) { [L::splat(0.0); 2] }
    code(codes) { L::halves(codes.take(32)) }

    /// The upper half of an `f32`.
    Bf16: Plain { run: 2, runs: 16 }
    scales(_head, _group) { [L::splat(0.0); 2] }
    code(codes) { L::bfloats(codes.take(32)) }

    /// As it is.
    F32: Plain { run: 1, runs: 32 }
    scales(_head, _group) { [L::splat(0.0); 2] }
    code(codes) { L::floats(codes.at) }
}

/// `d * scale` and `-(m * low)`, for a head of `d` and `m` and a group of bytes.
#[inline(always)]
unsafe fn affine<L: Lanes>(head: *const u8, group: *const u8) -> [L::Floats; 2] {
    // SAFETY: a head of two halves and a group of two bytes a column.
    unsafe {
        let (d, m) = (L::halves(head), L::halves(head.add(32)));
        let minus_m = L::multiply(m, L::splat(-1.0));
        [L::multiply(d, L::bytes(group)), L::multiply(minus_m, L::bytes(group.add(16)))]
    }
}
