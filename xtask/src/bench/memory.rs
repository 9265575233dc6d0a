//! Peak memory of a process, read from the outside while it runs (Linux).

use anyhow::{Context as _, Result, ensure};
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// More than any pipe holds by default.
const MORE_THAN_A_PIPE: usize = 4 << 20;
/// Looks at a sleeping process before it counts as waiting for good, one a millisecond.
const LOOKS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(1);

/// Highest resident memory of a process that runs for a while, in MiB. The kernel keeps the peak, so what is missed is at most
/// what was first touched in the last millisecond.
pub(super) fn peak_mib(command: &mut Command) -> Result<f64> {
    let mut child = command.stdout(Stdio::null()).spawn().context("cannot start the process")?;
    let mut peak_kib = None;
    let ended = loop {
        peak_kib = peak_kib.max(peak_kib_in(&status_of(&child)));
        if let Some(ended) = child.try_wait().context("cannot wait for the process")? {
            break ended;
        }
        std::thread::sleep(PAUSE);
    };
    ensure!(ended.success(), "the process ended with {ended}");
    mib(peak_kib)
}

/// The same for a process of milliseconds: its output goes to a pipe that is already full, so that it can be looked at while it
/// waits to write its first word.
pub(super) fn peak_mib_at_first_write(command: &mut Command) -> Result<f64> {
    let (mut reader, writer) = std::io::pipe().context("cannot make a pipe")?;
    let mut filler = writer.try_clone().context("cannot copy the end of a pipe")?;
    let filling = std::thread::spawn(move || filler.write_all(&vec![0; MORE_THAN_A_PIPE]));
    std::thread::sleep(PAUSE * LOOKS);
    let mut child = command.stdout(writer).spawn().context("cannot start the process")?;
    command.stdout(Stdio::null()); // gives our copy of the end back
    let mut asleep = 0;
    while asleep < LOOKS && child.try_wait().context("cannot wait for the process")?.is_none() {
        asleep = if status_of(&child).contains("State:\tS") { asleep + 1 } else { 0 };
        std::thread::sleep(PAUSE);
    }
    let peak_kib = peak_kib_in(&status_of(&child));
    reader.read_to_end(&mut Vec::new()).context("cannot empty the pipe")?;
    let ended = child.wait().context("cannot wait for the process")?;
    ensure!(ended.success(), "the process ended with {ended}");
    ensure!(filling.join().is_ok_and(|filled| filled.is_ok()), "the pipe could not be filled");
    mib(peak_kib)
}

fn status_of(child: &Child) -> String {
    std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default()
}

fn mib(peak_kib: Option<u64>) -> Result<f64> {
    Ok(peak_kib.context("the system does not tell the memory of a process in /proc")? as f64 / 1024.0)
}

fn peak_kib_in(status: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // A shell has at least its own code in memory, and no more than a few MiB.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_short_process_is_caught_before_it_writes() {
        let peak = peak_mib_at_first_write(Command::new("sh").args(["-c", "echo done"])).unwrap();
        assert!((0.3..16.0).contains(&peak), "{peak} MiB");
    }

    #[test]
    fn the_peak_is_read_from_its_own_line() {
        assert_eq!(peak_kib_in("VmPeak:\t  9000 kB\nVmHWM:\t    5120 kB\nVmRSS:\t 100 kB\n"), Some(5120));
        assert_eq!(peak_kib_in("State:\tZ (zombie)\n"), None);
    }
}
