# tries: the classic way out of chroot: a second chroot, then climbing
# contained: Ok Refused
import os
os.mkdir("jail")
fd = os.open(".", os.O_RDONLY)
refused("chroot", "chroot", b"jail")
os.fchdir(fd)
for _ in range(64):
    os.chdir("..")
attempt("canary", lambda: print(open("{{CANARY_FILE}}"[1:]).read()))
