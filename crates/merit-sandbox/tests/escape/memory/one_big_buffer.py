# tries: one buffer of a terabyte
# contained: Memory
held = bytearray(10**12)
escaped(len(held))
