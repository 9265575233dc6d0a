# tries: to fill the disk, ignoring the signal of the file size limit and every error
# contained: Ok Memory
import os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
total = 0
for index in range(400):
    try:
        fd = os.open(f"f{index}", os.O_CREAT | os.O_WRONLY)
        for _ in range(64):
            total += os.write(fd, b"x" * (1 << 20))
    except OSError as error:
        last = error
print("wrote", total, last)
if total > 1 << 30:
    escaped("over a GiB written")
