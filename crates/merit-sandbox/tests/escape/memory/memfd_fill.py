# tries: files in memory, outside the address space
# contained: Memory Exception Refused
import os
held = []
for _ in range(512):
    fd = os.memfd_create("fill")
    held.append(fd)
    for _ in range(16):
        os.write(fd, b"x" * (1 << 20))
escaped("8 GiB held in memory files")
