# tries: to go on after every MemoryError, keeping what it has
# contained: Memory Time
# limits: seconds=2
held = []
size = 1 << 26
while True:
    try:
        held.append(bytearray(size))
    except MemoryError:
        size = max(size // 2, 1)
