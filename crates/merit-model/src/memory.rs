//! How much memory this machine can still give, asked before a lot of it is taken.

use crate::ModelError;

/// Below this nothing is asked.
const WORTH_ASKING: usize = 64 << 20;

/// Refuses a need that the system says it cannot meet; where it does not say, nothing is refused.
pub(crate) fn require(what: &str, need: usize) -> Result<(), ModelError> {
    if need < WORTH_ASKING {
        return Ok(());
    }
    match available() {
        Some(have) if (need as u64) > have => {
            Err(ModelError::Memory { what: what.to_owned(), need: need as u64, have })
        }
        _ => Ok(()),
    }
}

/// Bytes that can be had without pushing anything out, the limit of this process's control group included.
fn available() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| mem_available(&text));
    let number = |name: &str| -> Option<u64> {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok()
    };
    let group = number("memory.max").and_then(|limit| Some(limit.saturating_sub(number("memory.current")?)));
    machine.into_iter().chain(group).min()
}

fn mem_available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_beyond_the_machine_is_refused_with_both_numbers() {
        assert!(require("a little", 1 << 20).is_ok());
        if available().is_some() {
            let error = require("a model", usize::MAX).unwrap_err().to_string();
            assert!(error.starts_with("not enough memory for a model:"), "{error}");
        }
    }

    #[test]
    fn the_kernels_own_words_are_understood() {
        let text = "MemTotal:       24000000 kB\nMemFree:  1 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(mem_available(text), Some(2 << 20));
        assert_eq!(mem_available("MemTotal: 5 kB\n"), None);
    }
}
