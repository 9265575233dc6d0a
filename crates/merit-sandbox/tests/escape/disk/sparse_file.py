# tries: a file of a petabyte that takes no room until read
# contained: Ok Exception Killed Memory
import os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open("sparse", "wb") as file:
    attempt("truncate", lambda: file.truncate(1 << 50))
    attempt("seek and write", lambda: (file.seek(1 << 42), file.write(b"x"), file.flush()))
    attempt("fallocate", lambda: os.posix_fallocate(file.fileno(), 0, 1 << 40))
print(os.stat("sparse").st_blocks * 512)
if os.stat("sparse").st_blocks * 512 > 1 << 30:
    escaped("a GiB of blocks")
