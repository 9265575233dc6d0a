# tries: a user namespace of its own, in which it would be root
# contained: Ok Refused
import os
for flag in (0x10000000, 0x10000000 | 0x20000, 0x20000, 0x40000000, 0x20000000, 0x8000000, 0x4000000, 0x2000000, 0x80, 0x400, 0x200):
    result = syscall("unshare", flag)
    print(hex(flag), "->", result)
    if result >= 0 and flag > 0x400:
        escaped(f"unshare {flag:#x} was allowed")
        attempt("map", lambda: open("/proc/self/uid_map", "w").write("0 0 1"))
