# tries: a thread that is not a daemon and never ends
# contained: Ok Time
# limits: seconds=1
import threading, time
def haunt():
    while True:
        time.sleep(0.01)
threading.Thread(target=haunt).start()
print("main is done")
