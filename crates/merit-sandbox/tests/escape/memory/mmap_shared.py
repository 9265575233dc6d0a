# tries: shared mappings, which a limit on private memory would not count
# contained: Memory Exception Refused
import mmap
held = []
for _ in range(512):
    area = mmap.mmap(-1, 1 << 24, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    for page in range(0, 1 << 24, 4096):
        area[page] = 1
    held.append(area)
escaped("8 GiB held")
