//! From the blocks of a file to panels: the same scales and codes, sixteen columns side by side.
//!
//! In: rows of blocks, `[outputs][inputs]`, as files hold them. Out: panels of up to four strips, each panel one straight run of
//! bytes along the inputs. Six-bit scales become bytes; nothing else grows, and nothing is rounded.

use super::lanes::LANES;
use super::scheme::{self, LINE, Scheme as _, Shape};
use super::walk::{MOST_STRIPS, Tile};
use super::{QuantError, QuantPart};
use crate::gemm::Sum;
use merit_formats::Encoding;

/// A cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Line([u8; LINE]);

/// Inputs of the longest block.
const LONGEST: usize = 256;

pub(super) fn shape(encoding: Encoding) -> Shape {
    match encoding {
        Encoding::F32 => scheme::F32::SHAPE,
        Encoding::F16 => scheme::F16::SHAPE,
        Encoding::Bf16 => scheme::Bf16::SHAPE,
        Encoding::Q8_0 => scheme::Q8_0::SHAPE,
        Encoding::Q4_0 => scheme::Q4_0::SHAPE,
        Encoding::Q4_1 => scheme::Q4_1::SHAPE,
        Encoding::Q5_0 => scheme::Q5_0::SHAPE,
        Encoding::Q5_1 => scheme::Q5_1::SHAPE,
        Encoding::Q4K => scheme::Q4K::SHAPE,
        Encoding::Q5K => scheme::Q5K::SHAPE,
        Encoding::Q6K => scheme::Q6K::SHAPE,
    }
}

/// One part of a matrix in panels.
#[derive(Debug)]
pub(super) struct Panels {
    pub(super) encoding: Encoding,
    pub(super) outputs: usize,
    /// Blocks along the inputs, the last one filled up with zeros.
    pub(super) blocks: usize,
    shape: Shape,
    lines: Vec<Line>,
}

impl Panels {
    pub(super) fn new(part: &QuantPart) -> Result<Self, QuantError> {
        let values = part.outputs.checked_mul(part.inputs);
        let fits = values.and_then(|values| part.encoding.bytes_for(values)) == Some(part.bytes.len());
        if !(fits && part.inputs.is_multiple_of(part.encoding.block())) {
            return Err(QuantError::Length {
                encoding: part.encoding,
                bytes: part.bytes.len(),
                outputs: part.outputs,
                inputs: part.inputs,
            });
        }
        let shape = shape(part.encoding);
        let blocks = part.inputs.div_ceil(shape.block());
        let bytes = part.outputs.div_ceil(LANES) * blocks * shape.block_bytes();
        let mut lines = Vec::new();
        let wanted = bytes.div_ceil(LINE);
        lines.try_reserve_exact(wanted).map_err(|_| QuantError::Memory { bytes })?;
        lines.resize(wanted, Line([0; LINE]));
        let mut panels = Self { encoding: part.encoding, outputs: part.outputs, blocks, shape, lines };
        panels.fill(part)?;
        Ok(panels)
    }

    /// How many bytes the panels take.
    pub(super) fn bytes(&self) -> usize {
        self.lines.len() * LINE
    }

    /// Inputs with those that fill up the last block.
    pub(super) fn depth(&self) -> usize {
        self.blocks * self.shape.block()
    }

    pub(super) fn strips(&self) -> usize {
        self.outputs.div_ceil(LANES)
    }

    /// Inputs of a group.
    pub(super) fn group(&self) -> usize {
        self.shape.group()
    }

    /// A strip in its panel, without rows.
    pub(super) fn tile(&self, strip: usize) -> Tile {
        let first = strip - strip % MOST_STRIPS;
        let start = first * self.blocks * self.shape.block_bytes();
        let line = self.lines[start / LINE..].as_ptr().cast::<u8>();
        Tile {
            panel: line.wrapping_add(start % LINE),
            strips: MOST_STRIPS.min(self.strips() - first),
            strip: strip % MOST_STRIPS,
            blocks: self.blocks,
            x: std::ptr::null(),
            group_sums: std::ptr::null(),
            c: std::ptr::null_mut(),
            c_row: 0,
            rows: 0,
            columns: 0,
            resume: false,
            sum: Sum::Chain,
        }
    }

    /// Offset of a group's first byte in a panel of `strips`, and that of its block.
    fn place(&self, strip: usize, block: usize, group: usize) -> Place {
        let first = strip - strip % MOST_STRIPS;
        let strips = MOST_STRIPS.min(self.strips() - first);
        let panel = first * self.blocks * self.shape.block_bytes();
        let head = panel + block * strips * self.shape.block_bytes();
        let group = head + strips * (self.shape.head_bytes() + group * self.shape.group_bytes());
        Place { shape: self.shape, strips, strip: strip % MOST_STRIPS, head, group }
    }

    fn fill(&mut self, part: &QuantPart) -> Result<(), QuantError> {
        if part.bytes.is_empty() {
            return Ok(());
        }
        let row_bytes = part.bytes.len() / part.outputs;
        for (output, row) in part.bytes.chunks_exact(row_bytes).enumerate() {
            // Plain numbers have no blocks of their own; any run of them is one.
            let block_bytes = match self.encoding.block() {
                1 => self.encoding.block_bytes() * self.shape.block(),
                _ => self.encoding.block_bytes(),
            };
            for (block, bytes) in row.chunks(block_bytes).enumerate() {
                self.put_block(output, block, bytes).map_err(|reason| QuantError::Block {
                    encoding: self.encoding,
                    output,
                    block,
                    reason,
                })?;
            }
        }
        Ok(())
    }

    fn put_block(&mut self, output: usize, block: usize, bytes: &[u8]) -> Result<(), &'static str> {
        let (strip, lane) = (output / LANES, output % LANES);
        let read = Block::read(self.encoding, bytes)?;
        for (index, half) in read.head.iter().enumerate().take(self.shape.head) {
            let place = self.place(strip, block, 0);
            self.put(place.head_half(index, lane), &half.to_le_bytes());
        }
        for group in 0..self.shape.groups {
            let place = self.place(strip, block, group);
            for (index, half) in read.halves.iter().enumerate().take(self.shape.halves) {
                self.put(place.group_half(index, lane), &half.to_le_bytes());
            }
            for index in 0..self.shape.bytes {
                self.put(place.group_byte(index, lane), &[read.scales[index][group]]);
            }
            self.put_codes(&place, lane, &read, bytes, group);
        }
        Ok(())
    }

    fn put_codes(&mut self, place: &Place, lane: usize, read: &Block, bytes: &[u8], group: usize) {
        let (run, runs, inputs) = (self.shape.run, self.shape.runs, self.shape.group());
        if run != 8 {
            let width = LINE / LANES / run;
            let codes = if self.encoding == Encoding::Q8_0 { &bytes[2..] } else { bytes };
            for (input, code) in codes.chunks_exact(width).enumerate() {
                self.put(place.code(input / run, input % run * LANES * width + lane * width), code);
            }
            return;
        }
        let codes = &read.codes[group * inputs..(group + 1) * inputs];
        for (index, codes) in codes.chunks_exact(run).enumerate().take(runs) {
            let word = codes.iter().rev().fold(0_u32, |word, code| word << 4 | u32::from(code & 15));
            self.put(place.code(index, lane * 4), &word.to_le_bytes());
        }
        if self.shape.high_bits > 0 {
            let bits = self.shape.high_bits as u32;
            let high = codes.iter().rev().fold(0_u32, |word, code| word << bits | u32::from(code >> 4));
            self.put(place.high(lane), &high.rotate_left(4).to_le_bytes());
        }
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        let line = &mut self.lines[at / LINE].0;
        line[at % LINE..at % LINE + bytes.len()].copy_from_slice(bytes);
    }
}

/// Where the pieces of one group of one strip begin.
struct Place {
    shape: Shape,
    strips: usize,
    strip: usize,
    head: usize,
    group: usize,
}

impl Place {
    fn head_half(&self, index: usize, lane: usize) -> usize {
        self.head + self.strip * self.shape.head_bytes() + index * 32 + lane * 2
    }

    fn group_half(&self, index: usize, lane: usize) -> usize {
        self.group + self.strip * self.shape.scale_bytes() + index * 32 + lane * 2
    }

    fn group_byte(&self, index: usize, lane: usize) -> usize {
        let bytes = self.group + self.strip * self.shape.scale_bytes() + self.shape.halves * 32;
        bytes + index * 16 + lane
    }

    fn high(&self, lane: usize) -> usize {
        self.group + self.strips * self.shape.scale_bytes() + self.strip * LINE + lane * 4
    }

    fn code(&self, run: usize, offset: usize) -> usize {
        let lines = self.group + self.strips * (self.shape.scale_bytes() + self.shape.high_bytes());
        lines + (run * self.strips + self.strip) * LINE + offset
    }
}

/// What one block of a file says, in the order of its inputs.
struct Block {
    head: [u16; 2],
    halves: [u16; 2],
    /// Scales and lowest values of the groups.
    scales: [[u8; 16]; 2],
    /// Codes of at most six bits.
    codes: [u8; LONGEST],
}

impl Block {
    fn read(encoding: Encoding, bytes: &[u8]) -> Result<Self, &'static str> {
        let mut block = Self { head: [0; 2], halves: [0; 2], scales: [[0; 16]; 2], codes: [0; LONGEST] };
        match encoding {
            Encoding::F32 | Encoding::Bf16 => finite_numbers(encoding, bytes)?,
            Encoding::F16 => bytes.chunks_exact(2).try_for_each(|half| finite(half).map(drop))?,
            Encoding::Q8_0 => block.halves[0] = finite(bytes)?,
            Encoding::Q4_0 => block.small(bytes, 1, false)?,
            Encoding::Q4_1 => block.small(bytes, 2, false)?,
            Encoding::Q5_0 => block.small(bytes, 1, true)?,
            Encoding::Q5_1 => block.small(bytes, 2, true)?,
            Encoding::Q4K => block.eight_groups(bytes, None)?,
            Encoding::Q5K => block.eight_groups(bytes, Some(16))?,
            Encoding::Q6K => block.sixteen_groups(bytes)?,
        }
        Ok(block)
    }

    /// 32 codes behind `halves` numbers; the first sixteen in the lower halves of the bytes.
    fn small(&mut self, bytes: &[u8], halves: usize, fifth: bool) -> Result<(), &'static str> {
        for (index, half) in self.halves.iter_mut().enumerate().take(halves) {
            *half = finite(&bytes[2 * index..])?;
        }
        let (high, low) = bytes[2 * halves..].split_at(if fifth { 4 } else { 0 });
        for (input, code) in self.codes[..32].iter_mut().enumerate() {
            *code = low[input % 16] >> (4 * (input / 16)) & 15;
            if fifth {
                *code |= (high[input / 8] >> (input % 8) & 1) << 4;
            }
        }
        Ok(())
    }

    /// Eight groups of 32; pairs of groups share bytes. `high` is where the fifth bits begin.
    fn eight_groups(&mut self, bytes: &[u8], high: Option<usize>) -> Result<(), &'static str> {
        self.head = [finite(bytes)?, finite(&bytes[2..])?];
        let packed = &bytes[4..16];
        for group in 0..8 {
            (self.scales[0][group], self.scales[1][group]) = match group {
                0..4 => (packed[group] & 63, packed[group + 4] & 63),
                _ => {
                    let halves = packed[group + 4];
                    (halves & 15 | packed[group - 4] >> 6 << 4, halves >> 4 | packed[group] >> 6 << 4)
                }
            };
        }
        let low = &bytes[high.map_or(16, |at| at + 32)..];
        for (input, code) in self.codes.iter_mut().enumerate() {
            let (group, lane) = (input / 32, input % 32);
            *code = low[group / 2 * 32 + lane] >> (4 * (group % 2)) & 15;
            if let Some(at) = high {
                *code |= (bytes[at + lane] >> group & 1) << 4;
            }
        }
        Ok(())
    }

    /// Sixteen groups of 16 with signed scales; halves of 128 inputs lie apart, four quarters of each share bytes.
    fn sixteen_groups(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        self.head[0] = finite(&bytes[208..])?;
        self.scales[0].copy_from_slice(&bytes[192..208]);
        for (input, code) in self.codes.iter_mut().enumerate() {
            let (half, quarter, lane) = (input / 128, input % 128 / 32, input % 32);
            let low = bytes[64 * half + 32 * (quarter % 2) + lane] >> (4 * (quarter / 2)) & 15;
            let high = bytes[128 + 32 * half + lane] >> (2 * quarter) & 3;
            *code = low | high << 4;
        }
        Ok(())
    }
}

/// The half-precision number at the start of `bytes`.
fn finite(bytes: &[u8]) -> Result<u16, &'static str> {
    let bits = u16::from_le_bytes([bytes[0], bytes[1]]);
    if bits & 0x7c00 == 0x7c00 { Err("a number is infinite or not a number") } else { Ok(bits) }
}

fn finite_numbers(encoding: Encoding, bytes: &[u8]) -> Result<(), &'static str> {
    let size = encoding.block_bytes();
    let mut upper =
        bytes.chunks_exact(size).map(|number| u16::from_le_bytes([number[size - 2], number[size - 1]]));
    let all = upper.all(|bits| bits & 0x7f80 != 0x7f80);
    if all { Ok(()) } else { Err("a number is infinite or not a number") }
}
