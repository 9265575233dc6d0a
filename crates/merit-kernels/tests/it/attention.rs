//! Attention against its definition, against finite differences, and against itself cut in other ways.

use merit_core::Seed;
use merit_formats::{DecoderConfig, Style, Window};
use merit_kernels::{AttentionSpaces, Device, Isa, PAGE, PageData, PageLayout, Precision, Reading, Workers};

/// Layer 0 sees `window` positions, layer 1 all; heads are wider than the model has room for.
fn config(window: Option<usize>, head_dim: usize) -> DecoderConfig {
    let window = window.map(|size| Window { size, every: 2, rope_base: 1e4 });
    DecoderConfig {
        vocab: 8,
        layers: 2,
        d_model: 20,
        heads: 4,
        kv_heads: 2,
        d_ff: 8,
        rope_base: 1e4,
        norm_eps: 1e-5,
        max_context: 512,
        value_head: false,
        style: Style { window, head_dim: Some(head_dim), ..Style::default() },
    }
}

fn random(name: &str, len: usize) -> Vec<f32> {
    let mut stream = Seed::root(9).child(name, len as u64).stream();
    (0..len).map(|_| stream.normal() as f32).collect()
}

/// Rows `q | k | v` with the slack that products may read.
fn rows(config: &DecoderConfig, rows: usize) -> Vec<f32> {
    random("qkv", rows * config.qkv_width() + 64)
}

fn whole(device: &Device, config: &DecoderConfig, layer: usize, lengths: &[usize], qkv: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; lengths.iter().sum::<usize>() * config.attention_width()];
    device.attend_whole((config, layer), lengths, qkv, &mut out, &AttentionSpaces::default());
    out
}

/// Attention of one sequence by its definition, in double precision.
fn naive(config: &DecoderConfig, layer: usize, rows: usize, qkv: &[f32]) -> Vec<f64> {
    let (dim, width) = (config.head_dim(), config.qkv_width());
    let window = config.window_of(layer).unwrap_or(usize::MAX);
    let at = |row: usize, column: usize| f64::from(qkv[row * width + column]);
    let mut out = Vec::new();
    for row in 0..rows {
        for head in 0..config.heads {
            let (key, value) =
                (config.key_column(head / config.group()), config.value_column(head / config.group()));
            let seen = (row + 1).saturating_sub(window)..row + 1;
            let score =
                |other: usize| (0..dim).map(|i| at(row, head * dim + i) * at(other, key + i)).sum::<f64>();
            let weights: Vec<f64> = seen.clone().map(|other| score(other).exp()).collect();
            let total: f64 = weights.iter().sum();
            let mix =
                |i: usize| seen.clone().zip(&weights).map(|(o, w)| w * at(o, value + i)).sum::<f64>() / total;
            out.extend((0..dim).map(mix));
        }
    }
    out
}

#[test]
fn attention_is_what_it_is_defined_to_be() {
    for window in [None, Some(1), Some(5), Some(16), Some(40)] {
        for dim in [6, 16] {
            let config = config(window, dim);
            let qkv: Vec<f32> = rows(&config, 75).iter().map(|x| x * 0.4).collect();
            for layer in 0..2 {
                let got = whole(&Device::single(), &config, layer, &[75], &qkv);
                for (got, want) in got.iter().zip(naive(&config, layer, 75, &qkv)) {
                    assert!(
                        (f64::from(*got) - want).abs() < 1e-5,
                        "window {window:?} layer {layer}: {got} {want}"
                    );
                }
            }
        }
    }
}

#[test]
fn pages_threads_and_instruction_sets_leave_the_bits_alone() {
    let cases = [(None, 10), (Some(7), 10), (Some(90), 10), (None, 144)];
    let precisions = [Precision::F32, Precision::Bf16];
    for ((window, dim), precision) in cases.into_iter().flat_map(|case| precisions.map(|p| (case, p))) {
        let config = config(window, dim);
        let (width, out_width, layout) =
            (config.qkv_width(), config.attention_width(), PageLayout::of(&config, precision));
        let lengths = [150, 1, 64, 33];
        let mut qkv = rows(&config, lengths.iter().sum());
        Device::single().round_memory(&config, precision, &mut qkv);
        for layer in 0..2 {
            let want = whole(&Device::single().with_isa(Isa::best()), &config, layer, &lengths, &qkv);
            for isa in Isa::available() {
                for threads in 1..=3 {
                    let device = Device::new(Workers::new(threads).unwrap()).with_isa(isa);
                    assert_eq!(whole(&device, &config, layer, &lengths, &qkv), want, "{isa:?} on {threads}");
                }
            }
            let mut first = 0;
            for rows in lengths {
                let own = &qkv[first * width..];
                let pages = pages(&config, layout, layer, own, rows);
                let pages: Vec<&PageData> = pages.iter().collect();
                // The last rows alone, or many at once, over pages that hold the rest.
                for count in [1, 2, rows.min(70), rows].into_iter().filter(|&count| count <= rows) {
                    let start = rows - count;
                    let mut out = vec![0.0; count * out_width];
                    let reading = Reading { pages: &pages, start, rows: count };
                    let (own, spaces) = (&own[start * width..], AttentionSpaces::default());
                    let want = &want[(first + start) * out_width..(first + rows) * out_width];
                    for isa in Isa::available() {
                        let (device, at) = (Device::single().with_isa(isa), (&config, layer, layout));
                        device.attend_pages(at, &[reading], own, &mut out, &spaces);
                        assert!(
                            out == want,
                            "{isa:?}, {precision:?}, window {window:?}, heads of {dim}, {count} of {rows} rows"
                        );
                    }
                }
                first += rows;
            }
        }
    }
}

fn pages(
    config: &DecoderConfig,
    layout: PageLayout,
    layer: usize,
    qkv: &[f32],
    rows: usize,
) -> Vec<PageData> {
    let (keys, values, width) = (config.key_column(0), config.value_column(0), config.qkv_width());
    // What is left over in a page must not show.
    let mut blank = layout.page();
    match &mut blank {
        PageData::F32(data) => data.fill(f32::NAN),
        PageData::Bf16(data) => data.fill(u32::MAX),
    }
    let mut pages = vec![blank; rows.div_ceil(PAGE)];
    for (position, row) in qkv.chunks_exact(width).take(rows).enumerate() {
        let page = &mut pages[position / PAGE];
        layout.write(page, layer, position % PAGE, &row[keys..values], &row[values..]);
    }
    pages
}

#[test]
fn the_gradient_agrees_with_finite_differences() {
    for window in [None, Some(1), Some(4), Some(20)] {
        let config = config(window, 6);
        let lengths = [35, 3];
        let (total, width) = (38, config.qkv_width());
        let qkv: Vec<f32> = rows(&config, total).iter().map(|x| x * 0.5).collect();
        let dout = random("dout", total * config.attention_width() + 64);
        let device = Device::single();
        for layer in 0..2 {
            let out = whole(&device, &config, layer, &lengths, &qkv);
            let dqkv = |device: &Device| {
                let mut dqkv = vec![f32::NAN; total * width + 64];
                let (spaces, inputs) = (AttentionSpaces::default(), (&qkv[..], &out[..], &dout[..]));
                device.attend_whole_back((&config, layer), &lengths, inputs, &mut dqkv, &spaces);
                dqkv.truncate(total * width);
                dqkv
            };
            let gradient = dqkv(&device);
            assert_eq!(gradient, dqkv(&Device::new(Workers::new(3).unwrap())));
            let loss = |qkv: &[f32]| -> f64 {
                let (first, second) =
                    (naive(&config, layer, 35, qkv), naive(&config, layer, 3, &qkv[35 * width..]));
                first.iter().chain(&second).zip(&dout).map(|(out, dout)| out * f64::from(*dout)).sum()
            };
            for i in (0..total * width).step_by(7) {
                let moved = |by: f32| {
                    let mut moved = qkv.clone();
                    moved[i] += by;
                    (loss(&moved), f64::from(moved[i]))
                };
                let ((up, high), (down, low)) = (moved(1e-3), moved(-1e-3));
                let (want, got) = ((up - down) / (high - low), f64::from(gradient[i]));
                assert!((want - got).abs() < 1e-4 * (1.0 + want.abs()), "entry {i}: {got} against {want}");
            }
        }
    }
}
