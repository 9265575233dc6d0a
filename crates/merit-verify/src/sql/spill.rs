//! How many bytes this thread has written, which while a read-only query runs are its temporary files.
//!
//! SQLite bounds the memory of sorting and of temporary tables by spilling them to unnamed temporary files, and has no
//! bound for those. Linux counts written bytes per thread; elsewhere nothing is known.

/// Bytes written by this thread so far. Absent: the system does not say.
#[cfg(target_os = "linux")]
pub(super) fn written_by_this_thread() -> Option<u64> {
    use std::io::Read;
    let mut text = [0_u8; 512];
    let length = std::fs::File::open("/proc/thread-self/io").ok()?.read(&mut text).ok()?;
    let text = std::str::from_utf8(text.get(..length)?).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("wchar:"))?;
    line.trim().parse().ok()
}

/// Bytes written by this thread so far. Absent: the system does not say.
#[cfg(not(target_os = "linux"))]
pub(super) fn written_by_this_thread() -> Option<u64> {
    None
}
