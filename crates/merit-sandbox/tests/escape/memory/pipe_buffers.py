# tries: kernel memory held in full pipes
# contained: Ok Exception Memory
import fcntl, os
held = 0
try:
    for _ in range(5000):
        _, write_end = os.pipe()
        os.set_blocking(write_end, False)
        try:
            fcntl.fcntl(write_end, 1031, 1 << 20)
        except OSError:
            pass
        try:
            while True:
                held += os.write(write_end, b"x" * 65536)
        except BlockingIOError:
            pass
except OSError as error:
    print(error)
print("held", held)
if held > 1 << 30:
    escaped("a GiB held in pipes")
