# tries: a filter of its own that allows everything, and then a fork
# contained: Ok Processes Refused
import ctypes, os, struct
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow)))
print("seccomp ->", syscall("seccomp", 1, 0, program))
print("prctl ->", syscall("prctl", 22, 2, program))
print("listener ->", syscall("seccomp", 1, 8, program))
if attempt("fork", os.fork) == 0:
    escaped("forked after replacing the filter")
    os._exit(0)
