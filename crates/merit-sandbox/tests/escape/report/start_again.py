# tries: the words a worker says before it gets its program
# contained: Killed Ok Exception
import os
for word in (b"R", b"E broken", b"R" * 100, b"E" + b"x" * 5000):
    os.write(4, word)
os._exit(0)
