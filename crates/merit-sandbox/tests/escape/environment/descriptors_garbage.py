# tries: garbage into every descriptor, so that whoever reads the report trips
# contained: Ok Exception Killed Output
import os, random
noise = random.Random(7).randbytes(4096)
for fd in range(3, 1024):
    try:
        os.set_blocking(fd, False)
        for _ in range(16):
            os.write(fd, noise)
    except OSError:
        pass
