# tries: swap, accounting, quotas and the kernel's log
# contained: Ok Refused
import ctypes
refused("swapon", "swapon", b"x", 0)
refused("acct", "acct", b"x")
refused("quotactl", "quotactl", 0, b"/", 0, 0)
refused("syslog", "syslog", 3, ctypes.create_string_buffer(4096), 4096)
refused("syslog size", "syslog", 10, 0, 0)
