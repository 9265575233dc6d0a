# tries: to lock itself into strict mode, so that the harness dies at its next call
# contained: Ok Killed Refused Exception
print("strict ->", syscall("prctl", 22, 1, 0))
print("still here")
