//! Tiles of bf16: how numbers are rounded, and that every instruction set cuts the same ones.

use merit_kernels::Isa;
use merit_kernels::testing::{BLANK, Cut, Cutter, LINES, Source, round};

#[test]
fn rounding_goes_to_the_nearest_and_ties_to_even() {
    let cases: [(u32, u16); 12] = [
        (0x3f80_0000, 0x3f80),
        (0x3f80_7fff, 0x3f80),
        (0x3f80_8000, 0x3f80), // a tie, down to even
        (0x3f81_8000, 0x3f82), // a tie, up to even
        (0x3f80_8001, 0x3f81),
        (0xbf80_8001, 0xbf81),
        (0x7f7f_ffff, 0x7f80), // beyond the largest: infinity
        (0xff80_0000, 0xff80),
        (0x7f80_0001, 0x7fc0), // a signalling NaN becomes a quiet one
        (0x007f_ffff, 0x0000), // subnormal
        (0x8000_0001, 0x8000),
        (0x0080_0000, 0x0080),
    ];
    for (bits, want) in cases {
        assert_eq!(round(f32::from_bits(bits)), want, "{bits:08x}");
    }
}

#[test]
fn every_instruction_set_cuts_the_same_tiles() {
    let odd = [f32::NAN, f32::INFINITY, -0.0, 1e-40, -1e-39, f32::MAX, f32::MIN_POSITIVE];
    let value = |i: usize| if i.is_multiple_of(7) { odd[i / 7 % 7] } else { (i as f32 * 0.37).sin() };
    let data: Vec<f32> = (0..70 * 45).map(value).collect();
    let source = Source::new(&data, 45, 70, 43);
    for cut in [Cut::Along, Cut::AlongTransposed, Cut::Across, Cut::AcrossTransposed] {
        let (places, steps) = match cut {
            Cut::Along | Cut::AlongTransposed => (5, 2),
            _ => (3, 3),
        };
        for (place, step) in (0..places).flat_map(|place| (0..steps).map(move |step| (place, step))) {
            let tile = |isa| {
                let mut tile = [BLANK; LINES];
                Cutter::new(isa, cut).tile(source, 16 * place, step, &mut tile);
                tile
            };
            let want = tile(*Isa::available().last().unwrap());
            for isa in Isa::available() {
                assert_eq!(tile(isa), want, "{isa:?} {cut:?} {place} {step}");
            }
            let at = |line: usize, p: usize, half: usize| {
                let (place_at, sum_at) = match cut {
                    Cut::Along | Cut::AcrossTransposed => (line, 2 * p + half),
                    _ => (p, 2 * line + half),
                };
                let (outer, inner) = (16 * place + place_at, 32 * step + sum_at);
                let (row, column) = if matches!(cut, Cut::Along | Cut::AlongTransposed) {
                    (outer, inner)
                } else {
                    (inner, outer)
                };
                if row < 70 && column < 43 { round(data[row * 45 + column]) } else { 0 }
            };
            for (line, p) in (0..16).flat_map(|line| (0..16).map(move |p| (line, p))) {
                let want = u32::from(at(line, p, 0)) | (u32::from(at(line, p, 1)) << 16);
                assert_eq!(want, tile(Isa::best())[line].0[p], "{cut:?} line {line} pair {p}");
            }
        }
    }
}
