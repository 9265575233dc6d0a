# tries: the zero device mapped as shared, which is anonymous memory by another name
# contained: Memory Exception Refused
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
device, size = os.open("/dev/zero", os.O_RDWR), 1 << 26
for _ in range(32):
    address = libc.mmap(None, size, 3, mmap.MAP_SHARED, device, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    for page in range(0, size, 4096):
        ctypes.c_char.from_address(address + page).value = b"x"
    libc.munmap(address + 4096, size - 4096)
escaped("2 GiB held")
