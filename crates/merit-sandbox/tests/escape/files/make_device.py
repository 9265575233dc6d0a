# tries: to make device nodes of its own
# contained: Ok Refused
import os, stat
for name, kind, major, minor in (("mem", stat.S_IFCHR, 1, 1), ("kmsg", stat.S_IFCHR, 1, 11), ("disk", stat.S_IFBLK, 254, 0), ("disk2", stat.S_IFBLK, 8, 0), ("zero", stat.S_IFCHR, 0, 0)):
    refused(name, "mknodat", -100, name.encode(), kind | 0o666, os.makedev(major, minor))
    if os.path.exists(name):
        attempt("read", lambda: (open(name, "rb").read(1), escaped("read a device")))
