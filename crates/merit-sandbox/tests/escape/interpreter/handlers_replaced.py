# tries: to replace every signal handler and the wakeup descriptor
# contained: Ok
import os, signal
for number in range(1, 65):
    try:
        signal.signal(number, lambda *_: None)
    except (OSError, ValueError):
        pass
attempt("wakeup", lambda: signal.set_wakeup_fd(1, warn_on_full_buffer=False))
os.kill(os.getpid(), signal.SIGALRM)
os.kill(os.getpid(), signal.SIGTERM)
print("done")
