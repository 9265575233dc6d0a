# tries: to turn protections of the processor off
# contained: Ok
print("speculation ->", syscall("prctl", 53, 0, 2, 0, 0))
print("mm ->", syscall("prctl", 35, 1, 0, 0, 0))
print("name ->", syscall("prctl", 15, b"kworker/0:0"))
print("ptracer ->", syscall("prctl", 0x59616D61, -1, 0, 0, 0))
