# tries: to mount proc, tmpfs, the host's device and a bind of the root
# contained: Ok Refused
import os
os.mkdir("m")
for source, kind, flags in ((b"proc", b"proc", 0), (b"tmpfs", b"tmpfs", 0), (b"/dev/vda", b"ext4", 1), (b"/dev/sda1", b"ext4", 1), (b"/", b"none", 4096), (b"/proc/1/root", b"none", 4096), (b"sysfs", b"sysfs", 0), (b"devtmpfs", b"devtmpfs", 0), (b"cgroup2", b"cgroup2", 0)):
    refused(f"mount {source}", "mount", source, b"m", kind, flags, 0)
