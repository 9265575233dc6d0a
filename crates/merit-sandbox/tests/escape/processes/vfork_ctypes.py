# tries: vfork through the C library and as a raw call
# contained: Ok Processes
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.vfork() != -1:
    escaped("vfork was allowed")
    os._exit(0)
result = syscall("vfork")
print("vfork ->", result)
if result >= 0:
    escaped("raw vfork was allowed")
    os._exit(0)
