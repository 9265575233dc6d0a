# tries: half a report, then silence
# contained: Time Killed
# limits: seconds=1
import os, time
os.write(4, b"\x40\x00\x00\x00" + b'{"verdict":"ok"')
time.sleep(100)
