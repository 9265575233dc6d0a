# tries: half a report, then to be gone
# contained: Killed
import os
os.write(4, b"\x40\x00\x00\x00" + b'{"verdict":"ok"')
os._exit(0)
