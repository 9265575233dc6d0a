# tries: to flood past the interpreter's streams
# contained: Output
import os
while True:
    os.write(1, b"\0" * 65536)
