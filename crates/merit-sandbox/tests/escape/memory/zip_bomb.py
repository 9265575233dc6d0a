# tries: a small input that unpacks to gigabytes
# contained: Memory
import zlib
small = zlib.compress(b"\0" * (1 << 25), 9)
held = []
while len(held) < 256:
    held.append(zlib.decompress(small))
escaped("8 GiB unpacked")
