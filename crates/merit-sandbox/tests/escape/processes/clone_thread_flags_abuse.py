# tries: a process that shares memory but is no thread, with a thread's flags left out one by one
# contained: Ok Processes Killed
import ctypes, os
CLONE_VM, CLONE_SIGHAND, CLONE_SYSVSEM = 0x100, 0x800, 0x40000
stack = ctypes.create_string_buffer(1 << 16)
for flags in (CLONE_VM | 17, CLONE_VM | CLONE_SIGHAND | 17, CLONE_VM | CLONE_SYSVSEM):
    # A null function: should the call be let through, the newcomer crashes, and its number is seen here.
    libc = ctypes.CDLL(None, use_errno=True)
    libc.clone.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    getpid = ctypes.cast(libc.getpid, ctypes.c_void_p)
    top = ctypes.addressof(stack) + (1 << 16) - 64
    result = libc.clone(getpid, top - top % 16, flags, None)
    if result > 0:
        escaped(f"clone {flags:#x} was allowed")
    print(hex(flags), "->", result)
