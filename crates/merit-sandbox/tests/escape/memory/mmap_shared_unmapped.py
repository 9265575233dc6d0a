# tries: shared memory that stays alive by descriptors while its mappings are dropped
# contained: Memory Exception Killed
import mmap, os
held = []
for index in range(512):
    fd = os.open(f"part{index}", os.O_RDWR | os.O_CREAT)
    os.unlink(f"part{index}")
    os.ftruncate(fd, 1 << 24)
    with mmap.mmap(fd, 1 << 24) as area:
        for page in range(0, 1 << 24, 4096):
            area[page] = 1
    held.append(fd)
escaped("8 GiB held in files without a name")
