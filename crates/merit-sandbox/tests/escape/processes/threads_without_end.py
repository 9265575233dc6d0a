# tries: to start threads until something gives
# contained: Exception Processes Memory Time
import threading, time
started = []
while len(started) < 20000:
    thread = threading.Thread(target=time.sleep, args=(1000,), daemon=True)
    thread.start()
    started.append(thread)
escaped("twenty thousand threads")
