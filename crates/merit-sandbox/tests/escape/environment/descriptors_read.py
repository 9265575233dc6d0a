# tries: to read whatever descriptors it was left with
# contained: Ok Exception Killed
# bare: canary-descriptor
import os
for fd in range(3, 1024):
    try:
        os.set_blocking(fd, False)
        print(fd, os.pread(fd, 1000, 0))
    except OSError:
        try:
            print(fd, os.read(fd, 1000))
        except OSError:
            pass
