# tries: to leave the harness without a free descriptor
# contained: Ok Exception Killed
import os
held = []
while len(held) < 1_000_000:
    try:
        held.append(os.dup(1))
    except OSError as error:
        print(error)
        break
else:
    escaped("a million descriptors")
