# tries: a daemon thread that goes on writing after the program's end
# contained: Ok
import threading, time, os
def haunt():
    time.sleep(0.3)
    while True:
        escaped("the thread outlived the call")
threading.Thread(target=haunt, daemon=True).start()
print("main is done")
