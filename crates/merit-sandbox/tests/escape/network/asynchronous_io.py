# tries: the old asynchronous interface
# contained: Ok Refused
import ctypes
context = ctypes.c_ulong(0)
print("io_setup ->", syscall("io_setup", 8, ctypes.byref(context)))
