# tries: to grow the heap by brk and raw mmap, past the allocator
# contained: Ok Memory Exception
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.sbrk.restype = ctypes.c_void_p
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
grown = 0
while grown < 1 << 33 and libc.sbrk(ctypes.c_long(1 << 26)) != ctypes.c_void_p(-1).value:
    grown += 1 << 26
mapped = 0
NORESERVE_PRIVATE_ANONYMOUS = 0x4022
while mapped < 1 << 33 and libc.mmap(None, 1 << 26, 3, NORESERVE_PRIVATE_ANONYMOUS, -1, 0) != ctypes.c_void_p(-1).value:
    mapped += 1 << 26
print("grown", grown, "mapped", mapped)
if grown + mapped >= 1 << 33:
    escaped("8 GiB of address space")
