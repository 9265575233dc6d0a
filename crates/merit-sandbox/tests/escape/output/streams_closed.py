# tries: to close its streams and write elsewhere
# contained: Ok Exception Killed
import os, sys
os.close(1)
os.close(2)
for fd in range(3, 64):
    try:
        os.write(fd, b"elsewhere")
    except OSError:
        pass
print("nobody hears")
