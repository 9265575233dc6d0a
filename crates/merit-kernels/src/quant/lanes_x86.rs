//! Sixteen columns side by side in AVX-512 (one register) and AVX2 with FMA (two).

// Intrinsics. SAFETY of every block here: the kernels are only reached with a detected `Isa`, and pointers are readable as
// `Lanes` says.
#![allow(unsafe_code)]

use super::lanes::{HALF_TO_SINGLE, Lanes};
use std::arch::x86_64::*;

/// Needs avx512f, avx512vl, avx512bw and avx512dq.
pub(super) struct Avx512;

/// The lowest four bits; elsewhere the other operand.
const FOUR: i32 = 15;

/// Truth table of "where `a` has a bit, `b`, else `c`".
const SELECT: i32 = 0xca;

impl Avx512 {
    #[inline(always)]
    unsafe fn from_low(low: i32) -> __m512 {
        unsafe {
            let steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            _mm512_cvtepi32_ps(_mm512_add_epi32(steps, _mm512_set1_epi32(low)))
        }
    }

    #[inline(always)]
    unsafe fn below(words: __m512i, high: __m512i) -> __m512i {
        unsafe { _mm512_ternarylogic_epi32::<SELECT>(_mm512_set1_epi32(FOUR), words, high) }
    }

    /// Numbers that bfloat16 holds, those of two inputs in one word of each lane: 64 bytes.
    #[inline(always)]
    pub(super) unsafe fn store_pairs(to: *mut u8, even: __m512, odd: __m512) {
        unsafe {
            let low = _mm512_srli_epi32::<16>(_mm512_castps_si512(even));
            let upper = _mm512_set1_epi32(0xffff_0000_u32.cast_signed());
            let pairs = _mm512_ternarylogic_epi32::<SELECT>(upper, _mm512_castps_si512(odd), low);
            _mm512_storeu_si512(to.cast(), pairs);
        }
    }
}

impl Lanes for Avx512 {
    type Floats = __m512;
    type Words = __m512i;

    #[inline(always)]
    unsafe fn splat(value: f32) -> __m512 {
        unsafe { _mm512_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn floats(from: *const u8) -> __m512 {
        unsafe { _mm512_loadu_ps(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, values: __m512) {
        unsafe { _mm512_storeu_ps(to, values) }
    }

    #[inline(always)]
    unsafe fn fma(a: __m512, b: __m512, c: __m512) -> __m512 {
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    unsafe fn multiply(a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_mul_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn words(from: *const u8) -> __m512i {
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn shift_by_4(words: __m512i) -> __m512i {
        unsafe { _mm512_srli_epi32::<4>(words) }
    }

    #[inline(always)]
    unsafe fn rotate_by_1(words: __m512i) -> __m512i {
        unsafe { _mm512_ror_epi32::<1>(words) }
    }

    #[inline(always)]
    unsafe fn rotate_by_2(words: __m512i) -> __m512i {
        unsafe { _mm512_ror_epi32::<2>(words) }
    }

    // A permutation reads only the bits of its index that it needs, so nothing has to be masked.
    #[inline(always)]
    unsafe fn four_bits<const LOW: i32>(words: __m512i) -> __m512 {
        unsafe { _mm512_permutexvar_ps(words, Self::from_low(LOW)) }
    }

    #[inline(always)]
    unsafe fn five_bits<const LOW: i32>(words: __m512i, high: __m512i) -> __m512 {
        unsafe {
            let (lower, upper) = (Self::from_low(LOW), Self::from_low(LOW + 16));
            _mm512_permutex2var_ps(lower, Self::below(words, high), upper)
        }
    }

    #[inline(always)]
    unsafe fn six_bits(words: __m512i, high: __m512i) -> __m512 {
        unsafe {
            let six = _mm512_and_si512(Self::below(words, high), _mm512_set1_epi32(63));
            _mm512_cvtepi32_ps(_mm512_sub_epi32(six, _mm512_set1_epi32(32)))
        }
    }

    #[inline(always)]
    unsafe fn add(a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn prefetch(from: *const u8) {
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
    }

    #[inline(always)]
    unsafe fn signed_bytes(from: *const u8) -> __m512 {
        unsafe { _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(from.cast()))) }
    }

    #[inline(always)]
    unsafe fn bytes(from: *const u8) -> __m512 {
        unsafe { _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(from.cast()))) }
    }

    #[inline(always)]
    unsafe fn halves(from: *const u8) -> __m512 {
        unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn bfloats(from: *const u8) -> __m512 {
        unsafe {
            let wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast()));
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(wide))
        }
    }
}

/// Needs avx2 and fma.
pub(super) struct Avx2;

impl Avx2 {
    #[inline(always)]
    unsafe fn from_codes(codes: [__m256i; 2], low: i32) -> [__m256; 2] {
        unsafe {
            let low = _mm256_set1_epi32(low);
            [
                _mm256_cvtepi32_ps(_mm256_add_epi32(codes[0], low)),
                _mm256_cvtepi32_ps(_mm256_add_epi32(codes[1], low)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn keep(words: [__m256i; 2], bits: i32) -> [__m256i; 2] {
        unsafe {
            let mask = _mm256_set1_epi32(bits);
            [_mm256_and_si256(words[0], mask), _mm256_and_si256(words[1], mask)]
        }
    }

    #[inline(always)]
    unsafe fn below(words: [__m256i; 2], high: [__m256i; 2], bits: i32) -> [__m256i; 2] {
        unsafe {
            let (low, high) = (Self::keep(words, FOUR), Self::keep(high, bits));
            [_mm256_or_si256(low[0], high[0]), _mm256_or_si256(low[1], high[1])]
        }
    }

    /// Sixteen numbers of 16 bits, each in a word.
    #[inline(always)]
    unsafe fn shorts(from: *const u8) -> [__m256i; 2] {
        unsafe {
            [
                _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast())),
                _mm256_cvtepu16_epi32(_mm_loadu_si128(from.add(16).cast())),
            ]
        }
    }

    /// As the portable form, eight at a time.
    #[inline(always)]
    unsafe fn half(bits: __m256i) -> __m256 {
        unsafe {
            let magnitude = _mm256_slli_epi32::<13>(_mm256_and_si256(bits, _mm256_set1_epi32(0x7fff)));
            let magnitude = _mm256_mul_ps(_mm256_castsi256_ps(magnitude), _mm256_set1_ps(HALF_TO_SINGLE));
            let sign = _mm256_slli_epi32::<16>(_mm256_and_si256(bits, _mm256_set1_epi32(0x8000)));
            _mm256_or_ps(magnitude, _mm256_castsi256_ps(sign))
        }
    }
}

impl Lanes for Avx2 {
    type Floats = [__m256; 2];
    type Words = [__m256i; 2];

    #[inline(always)]
    unsafe fn splat(value: f32) -> [__m256; 2] {
        unsafe { [_mm256_set1_ps(value); 2] }
    }

    #[inline(always)]
    unsafe fn floats(from: *const u8) -> [__m256; 2] {
        unsafe { [_mm256_loadu_ps(from.cast()), _mm256_loadu_ps(from.add(32).cast())] }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, values: [__m256; 2]) {
        unsafe {
            _mm256_storeu_ps(to, values[0]);
            _mm256_storeu_ps(to.add(8), values[1]);
        }
    }

    #[inline(always)]
    unsafe fn fma(a: [__m256; 2], b: [__m256; 2], c: [__m256; 2]) -> [__m256; 2] {
        unsafe { [_mm256_fmadd_ps(a[0], b[0], c[0]), _mm256_fmadd_ps(a[1], b[1], c[1])] }
    }

    #[inline(always)]
    unsafe fn multiply(a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        unsafe { [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])] }
    }

    #[inline(always)]
    unsafe fn words(from: *const u8) -> [__m256i; 2] {
        unsafe { [_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.add(32).cast())] }
    }

    #[inline(always)]
    unsafe fn shift_by_4(words: [__m256i; 2]) -> [__m256i; 2] {
        unsafe { [_mm256_srli_epi32::<4>(words[0]), _mm256_srli_epi32::<4>(words[1])] }
    }

    #[inline(always)]
    unsafe fn rotate_by_1(words: [__m256i; 2]) -> [__m256i; 2] {
        unsafe {
            let turned = |w| _mm256_or_si256(_mm256_srli_epi32::<1>(w), _mm256_slli_epi32::<31>(w));
            [turned(words[0]), turned(words[1])]
        }
    }

    #[inline(always)]
    unsafe fn rotate_by_2(words: [__m256i; 2]) -> [__m256i; 2] {
        unsafe {
            let turned = |w| _mm256_or_si256(_mm256_srli_epi32::<2>(w), _mm256_slli_epi32::<30>(w));
            [turned(words[0]), turned(words[1])]
        }
    }

    #[inline(always)]
    unsafe fn four_bits<const LOW: i32>(words: [__m256i; 2]) -> [__m256; 2] {
        unsafe { Self::from_codes(Self::keep(words, FOUR), LOW) }
    }

    #[inline(always)]
    unsafe fn five_bits<const LOW: i32>(words: [__m256i; 2], high: [__m256i; 2]) -> [__m256; 2] {
        unsafe { Self::from_codes(Self::below(words, high, 16), LOW) }
    }

    #[inline(always)]
    unsafe fn six_bits(words: [__m256i; 2], high: [__m256i; 2]) -> [__m256; 2] {
        unsafe { Self::from_codes(Self::below(words, high, 48), -32) }
    }

    #[inline(always)]
    unsafe fn add(a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        unsafe { [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])] }
    }

    #[inline(always)]
    unsafe fn prefetch(from: *const u8) {
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
    }

    #[inline(always)]
    unsafe fn signed_bytes(from: *const u8) -> [__m256; 2] {
        unsafe {
            let (low, high) = (_mm_loadl_epi64(from.cast()), _mm_loadl_epi64(from.add(8).cast()));
            Self::from_codes([_mm256_cvtepi8_epi32(low), _mm256_cvtepi8_epi32(high)], 0)
        }
    }

    #[inline(always)]
    unsafe fn bytes(from: *const u8) -> [__m256; 2] {
        unsafe {
            let (low, high) = (_mm_loadl_epi64(from.cast()), _mm_loadl_epi64(from.add(8).cast()));
            Self::from_codes([_mm256_cvtepu8_epi32(low), _mm256_cvtepu8_epi32(high)], 0)
        }
    }

    #[inline(always)]
    unsafe fn halves(from: *const u8) -> [__m256; 2] {
        unsafe {
            let [low, high] = Self::shorts(from);
            [Self::half(low), Self::half(high)]
        }
    }

    #[inline(always)]
    unsafe fn bfloats(from: *const u8) -> [__m256; 2] {
        unsafe {
            let [low, high] = Self::shorts(from);
            [
                _mm256_castsi256_ps(_mm256_slli_epi32::<16>(low)),
                _mm256_castsi256_ps(_mm256_slli_epi32::<16>(high)),
            ]
        }
    }
}
