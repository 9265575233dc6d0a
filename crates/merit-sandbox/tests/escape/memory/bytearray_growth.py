# tries: a byte buffer that doubles
# contained: Memory
held = bytearray(b"x")
while True:
    held += bytes(held)
