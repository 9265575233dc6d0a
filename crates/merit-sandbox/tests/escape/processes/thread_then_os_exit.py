# tries: to leave by os._exit(0) while a thread spins
# contained: Killed Exception
import os, threading
def spin():
    while True:
        pass
threading.Thread(target=spin, daemon=True).start()
os._exit(0)
