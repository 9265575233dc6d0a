# tries: the third set of call numbers of the processor
# contained: Ok Killed Refused
X32 = 0x40000000
for number, name in ((57, "fork"), (58, "vfork"), (41, "socket"), (520, "execve"), (521, "ptrace"), (545, "execveat")):
    result = syscall(X32 | number, 2, 1, 0, 0)
    print(name, "->", result)
    if result >= 0:
        escaped(name + " by x32 numbers")
