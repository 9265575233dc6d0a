# tries: a report of a hundred megabytes
# contained: Ok Killed Time Output
# limits: seconds=3
import os, struct
size = 100 << 20
os.write(4, struct.pack("<I", size) + b'{"verdict":"ok","value":"')
part = b"v" * (1 << 16)
sent = 25
while sent + len(part) < size - 30:
    sent += os.write(4, part)
tail = b'","cpu":0.0,"peak":1}'
os.write(4, b"v" * (size - sent - len(tail)) + tail)
os._exit(0)
