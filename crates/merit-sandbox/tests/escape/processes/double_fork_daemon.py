# tries: to become a daemon that lives on after the call
# contained: Processes Exception
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        escaped("a daemon runs")
        while True:
            time.sleep(1)
