# tries: to lay a poisoned module over the standard library for later calls
# contained: Ok Refused
import os
target = os.path.join(os.path.dirname(os.__file__), "bisect.py")
with open("bisect.py", "w") as file:
    file.write("poisoned = True\ndef insort(*_): raise SystemExit\n")
refused("bind", "mount", os.path.abspath("bisect.py").encode(), target.encode(), 0, 4096, 0)
