# tries: clone3, whose flags no filter can see
# contained: Ok Processes Refused
import ctypes, os
class Arguments(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack", "stack_size", "tls",
        "set_tid", "set_tid_size", "cgroup")]
for flags in (0, 0x10000000, 0x20000000 | 0x10000000, 0x1000):
    handle = ctypes.c_int(-1)
    call = Arguments(flags=flags, exit_signal=17, pidfd=ctypes.addressof(handle))
    result = syscall("clone3", ctypes.byref(call), ctypes.sizeof(call))
    if result >= 0:
        escaped(f"clone3 {flags:#x} was allowed")
        if result == 0:
            os._exit(0)
    print(hex(flags), "->", result)
