# tries: to wait for a lock nobody gives back
# contained: Time
# limits: seconds=0.5
import threading
lock = threading.Lock()
lock.acquire()
lock.acquire()
