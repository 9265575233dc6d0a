# tries: to hold memory in the shared memory folder or any other writable mount
# contained: Ok Memory Exception
import os
total = 0
for root in ("/dev/shm", "/run", "/var/tmp", "/tmp", "/dev/mqueue", "/dev", "/", "/proc", "/home", "/root"):
    try:
        for index in range(1 << 12):
            with open(f"{root}/fill{index}", "wb") as file:
                total += file.write(b"x" * (1 << 20))
    except OSError as error:
        print(root, error, total)
if total > 1 << 30:
    escaped("over a GiB of files")
