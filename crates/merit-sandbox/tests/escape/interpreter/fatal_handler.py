# tries: crash dumps into every descriptor
# contained: Ok Killed Exception
import faulthandler
for fd in range(0, 64):
    try:
        faulthandler.enable(fd)
        faulthandler.dump_traceback(fd)
        faulthandler.dump_traceback_later(0.05, exit=True, file=fd)
    except (OSError, ValueError, RuntimeError):
        pass
import time
time.sleep(0.3)
