# tries: every low process number in turn, itself left out
# contained: Ok Killed
import os
hit = []
for pid in range(1, 5000):
    if pid != os.getpid():
        try:
            os.kill(pid, 9)
            hit.append(pid)
        except OSError:
            pass
print("hit", hit[:20])
if [pid for pid in hit if pid not in (1,)]:
    escaped(f"signals went to {hit[:20]}")
