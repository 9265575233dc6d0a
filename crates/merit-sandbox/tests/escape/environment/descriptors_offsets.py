# tries: to rewind and cut what lies behind every descriptor
# contained: Ok Exception Killed Time
import os
for fd in range(0, 1024):
    for action in (lambda: os.lseek(fd, 0, 0), lambda: os.ftruncate(fd, 0), lambda: os.pwrite(fd, b"FOR" + b"GED", 0)):
        try:
            action()
        except OSError:
            pass
