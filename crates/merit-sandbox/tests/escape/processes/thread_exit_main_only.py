# tries: to end the main thread alone by a raw exit, leaving another running
# contained: Killed Exception Time
# limits: seconds=1
import threading, time, ctypes
def haunt():
    while True:
        time.sleep(0.01)
threading.Thread(target=haunt, daemon=True).start()
ctypes.CDLL(None).syscall(60, 0)
