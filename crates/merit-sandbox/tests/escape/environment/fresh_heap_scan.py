# tries: to find another call's text in freshly allocated, never cleared memory
# contained: Ok
import ctypes, re
mark = re.compile(b"CROSS" + b"-CALL-" + b"[0-9a-f]{16}")
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
held = []
for size in (64, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536):
    for _ in range(400):
        block = libc.malloc(size)
        held.append(block)
        for found in set(mark.findall(ctypes.string_at(block, size))):
            print(found)
