# tries: to fill every descriptor's buffer so that reports cannot be sent
# contained: Ok Exception Killed Output Time
# limits: seconds=2
import os
for fd in range(3, 1024):
    try:
        while True:
            os.set_blocking(fd, False)
            os.write(fd, b"\0" * 65536)
    except OSError:
        pass
