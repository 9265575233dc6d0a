//! Files: new and whole or not there, metrics as CSV, and event files down to the bit.

use merit_export::{ExportError, NewFile, csv, event_file_name, events};
use merit_store::Metric;
use std::io::Write as _;
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_file_is_there_once_it_is_finished_and_never_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows.jsonl");
    let mut dropped = NewFile::create(&path).unwrap();
    dropped.write_all(b"half").unwrap();
    drop(dropped);
    assert_eq!(names(dir.path()), [""; 0]);
    let mut file = NewFile::create(&path).unwrap();
    file.write_all(b"whole").unwrap();
    assert!(!path.exists());
    file.finish().unwrap();
    assert_eq!(names(dir.path()), ["rows.jsonl"]);
    assert!(matches!(NewFile::create(&path), Err(ExportError::Exists { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"whole");
}

#[test]
fn a_file_that_appears_meanwhile_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows.jsonl");
    let mut file = NewFile::create(&path).unwrap();
    file.write_all(b"mine").unwrap();
    std::fs::write(&path, "theirs").unwrap();
    assert!(matches!(file.finish(), Err(ExportError::Exists { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
    assert_eq!(names(dir.path()), ["rows.jsonl"]);
}

fn metric(phase: &str, step: u64, name: &str, value: f64) -> Metric {
    Metric { phase: phase.into(), step, name: name.into(), value }
}

#[test]
fn a_field_that_would_be_split_is_quoted() {
    let metrics = [metric("train@a", 3, "success/kind=a,b", 0.1), metric("train", 4, "say \"x\"", f64::NAN)];
    let text = "phase,step,name,value\ntrain@a,3,\"success/kind=a,b\",0.1\ntrain,4,\"say \"\"x\"\"\",NaN\n";
    assert_eq!(csv(&metrics), text);
}

/// CRC-32C by a table, which the exporter computes another way.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut table = [0_u32; 256];
    for (at, entry) in (0..).zip(&mut table) {
        *entry = (0..8).fold(at, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 });
    }
    let next = |crc: u32, byte: &u8| crc >> 8 ^ table[usize::from(crc as u8 ^ byte)];
    !bytes.iter().fold(!0, next)
}

fn check(sum: &[u8], bytes: &[u8]) {
    let masked = u32::from_le_bytes(sum.try_into().unwrap());
    assert_eq!(masked.wrapping_sub(0xa282_ead8).rotate_left(15), crc32c(bytes));
}

#[test]
fn an_event_file_is_framed_and_written_as_protocol_buffers_have_it() {
    // The check value of CRC-32C in the catalogue of CRC algorithms, and 32 zeros from RFC 3720.
    assert_eq!((crc32c(b"123456789"), crc32c(&[0; 32])), (0xe306_9283, 0x8a91_36aa));
    assert_eq!(event_file_name(1_700_000_000_123), "events.out.tfevents.1700000000.merit");
    let file = events(&[metric("t", 300, "x", 1.0)], 2_000);
    let mut rest = file.as_slice();
    let mut records = Vec::new();
    while !rest.is_empty() {
        let length = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
        check(&rest[8..12], &rest[..8]);
        let record = &rest[12..12 + length];
        check(&rest[12 + length..16 + length], record);
        records.push(record);
        rest = &rest[16 + length..];
    }
    let [version, event] = records.as_slice() else { panic!("{records:?}") };
    // wall_time = 2.0 as field 1, step as a number in field 2.
    let front = [&[0x09][..], &2.0_f64.to_le_bytes(), &[0x10]].concat();
    assert_eq!(*version, [&front[..], &[0, 0x1a, 13], b"brain.Event:2"].concat());
    // 300 is 0b10_0101100: the lower seven bits first. Then the summary, its value, and in it tag and number.
    let summary = [&[0x2a, 12, 0x0a, 10, 0x0a, 3][..], b"t/x", &[0x15], &1.0_f32.to_le_bytes()].concat();
    assert_eq!(*event, [&front[..], &[0xac, 0x02], &summary].concat());
}
