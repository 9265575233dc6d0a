# tries: to put its own file behind every descriptor
# contained: Ok Killed Exception
import os
fd = os.open("own", os.O_CREAT | os.O_RDWR)
for other in range(0, 64):
    if other != fd:
        os.dup2(fd, other)
print("gone")
