//! Metrics as an event file that TensorBoard reads: TFRecords of `Event` messages, written by hand.
//!
//! A record is its length in eight bytes, the masked CRC-32C of those, the bytes, and their masked CRC-32C; all little-endian.
//! Of the protocol buffers only these fields are needed: `Event` has `wall_time = 1`, `step = 2`, `file_version = 3` and
//! `summary = 5`; a `Summary` has values as field 1, each with `tag = 1` and `simple_value = 2`.

use merit_store::Metric;

/// The name of the event file of a run that started at this Unix time. TensorBoard looks for the word in the middle.
pub fn event_file_name(started_ms: u64) -> String {
    format!("events.out.tfevents.{}.merit", started_ms / 1000)
}

/// The event file of these metrics. A tag is `PHASE/NAME`. The record keeps steps and no times of metrics, so that every event
/// has the time at which the run started.
pub fn events(metrics: &[Metric], started_ms: u64) -> Vec<u8> {
    let seconds = started_ms as f64 / 1000.0;
    let mut file = Vec::new();
    put_record(&mut file, &event(seconds, 0, (3, b"brain.Event:2")));
    for metric in metrics {
        put_record(&mut file, &event(seconds, metric.step, (5, &summary(metric))));
    }
    file
}

fn event(seconds: f64, step: u64, (field, what): (u8, &[u8])) -> Vec<u8> {
    let mut bytes = vec![key(1, FIXED64)];
    bytes.extend(seconds.to_le_bytes());
    bytes.push(key(2, VARINT));
    put_varint(&mut bytes, step);
    put_bytes(&mut bytes, field, what);
    bytes
}

fn summary(metric: &Metric) -> Vec<u8> {
    let mut value = Vec::new();
    put_bytes(&mut value, 1, format!("{}/{}", metric.phase, metric.name).as_bytes());
    value.push(key(2, FIXED32));
    value.extend((metric.value as f32).to_le_bytes());
    let mut summary = Vec::new();
    put_bytes(&mut summary, 1, &value);
    summary
}

const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const LENGTH: u8 = 2;
const FIXED32: u8 = 5;

fn key(field: u8, kind: u8) -> u8 {
    field << 3 | kind
}

fn put_bytes(out: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    out.push(key(field, LENGTH));
    put_varint(out, bytes.len() as u64);
    out.extend(bytes);
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_record(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = (bytes.len() as u64).to_le_bytes();
    out.extend(length);
    out.extend(masked(crc32c(&length)).to_le_bytes());
    out.extend(bytes);
    out.extend(masked(crc32c(bytes)).to_le_bytes());
}

/// A checksum of bytes that may hold checksums themselves is turned and shifted, as the format asks.
fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C (Castagnoli), bit by bit: a file of metrics is small.
fn crc32c(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let shift = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| shift(crc)))
}
