//! Waiting for what other processes do.

use std::time::Duration;

/// What `look` finds, in five minutes at most.
pub(crate) fn soon<T>(look: impl Fn() -> Option<T>) -> T {
    for _ in 0..30_000 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("not within five minutes")
}

/// Waits until a process has ended; one that nobody has waited for yet has ended too.
pub(crate) fn until_gone(pid: i32) {
    let gone = |stat: String| stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim().starts_with('Z'));
    soon(|| std::fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, gone).then_some(()));
}
