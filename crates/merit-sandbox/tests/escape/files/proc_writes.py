# tries: the kernel's switches under /proc and /sys
# contained: Ok
import os
targets = {
    "/proc/sys/kernel/core_pattern": "|/bin/sh", "/proc/sysrq-trigger": "h", "/proc/sys/kernel/hostname": "x",
    "/proc/self/uid_map": "0 0 1", "/proc/self/setgroups": "deny", "/proc/self/loginuid": "0",
    "/proc/self/coredump_filter": "0x7f", "/proc/self/attr/current": "x", "/proc/self/timerslack_ns": "1",
    "/sys/kernel/uevent_helper": "/bin/sh", "/sys/fs/cgroup/cgroup.procs": "0", "/sys/fs/cgroup/release_agent": "/bin/sh",
    "/proc/sys/vm/drop_caches": "1", "/proc/sys/fs/binfmt_misc/register": ":x:M::x::/bin/sh:",
}
for path, text in targets.items():
    def write():
        with open(path, "w") as file:
            file.write(text)
        escaped("wrote " + path)
    if path not in ("/proc/self/coredump_filter", "/proc/self/timerslack_ns"):
        attempt(path, write)
