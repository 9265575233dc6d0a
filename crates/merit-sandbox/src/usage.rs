//! What a process has used so far, for one that was killed and has not yet been scheduled to die.

use crate::worker::Ending;
use std::fs::read_to_string;
use std::os::fd::{AsRawFd, OwnedFd};

/// Clock ticks a second in `/proc`: part of the kernel's interface on every architecture we run on.
const TICKS: f64 = 100.0;

/// By the handle of the process; zeros where the kernel no longer tells.
pub(crate) fn so_far(handle: &OwnedFd) -> Ending {
    let pid = pid_of(handle);
    let (cpu, peak) = pid.map_or((None, None), |pid| (cpu_seconds(pid), peak_kb(pid)));
    Ending { exit: None, signal: None, cpu: cpu.unwrap_or(0.0), peak: peak.unwrap_or(0) }
}

pub(crate) fn pid_of(handle: &OwnedFd) -> Option<u32> {
    field(&read_to_string(format!("/proc/self/fdinfo/{}", handle.as_raw_fd())).ok()?, "Pid:")
}

fn cpu_seconds(pid: u32) -> Option<f64> {
    let stat = read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut times = stat.rsplit_once(')')?.1.split_whitespace().skip(11).map(str::parse::<f64>);
    Some((times.next()?.ok()? + times.next()?.ok()?) / TICKS)
}

fn peak_kb(pid: u32) -> Option<u64> {
    field(&read_to_string(format!("/proc/{pid}/status")).ok()?, "VmHWM:")
}

pub(crate) fn field<T: std::str::FromStr>(text: &str, name: &str) -> Option<T> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}
