# tries: to outlive its parent by unsetting the death signal, and to adopt orphans
# contained: Ok
print("pdeathsig", syscall("prctl", 1, 0))
print("subreaper", syscall("prctl", 36, 1))
print("dumpable", syscall("prctl", 4, 1))
print("timer slack", syscall("prctl", 29, 1))
print("keep capabilities", syscall("prctl", 8, 1))
