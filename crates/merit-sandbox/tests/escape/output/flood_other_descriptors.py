# tries: to pile output up in descriptors that nobody limits
# contained: Ok Output Time Exception Killed
# limits: seconds=2
import os
for fd in list(range(0, 64)):
    try:
        os.set_blocking(fd, False)
        for _ in range(4096):
            os.write(fd, b"x" * 65536)
    except OSError:
        pass
