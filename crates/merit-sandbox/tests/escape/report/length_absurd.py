# tries: a report said to be four gigabytes long
# contained: Killed Time Output
# limits: seconds=1
import os, time
os.write(4, b"\xff\xff\xff\xff" + b"{" * 1000)
time.sleep(100)
