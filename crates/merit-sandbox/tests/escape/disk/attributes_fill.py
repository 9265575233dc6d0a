# tries: to hold memory in extended attributes
# contained: Ok Memory Exception
import os
held = 0
try:
    for index in range(100000):
        open(f"x{index}", "w").close()
        os.setxattr(f"x{index}", "user.fill", b"x" * 60000)
        held += 60000
except OSError as error:
    print("stopped after", held, error)
if held > 1 << 30:
    escaped("a GiB held in attributes")
