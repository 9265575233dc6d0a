# tries: clone without thread flags, which makes a process
# contained: Ok Processes
import os
SIGCHLD, CLONE_VFORK, CLONE_PARENT, CLONE_FS, CLONE_FILES = 17, 0x4000, 0x8000, 0x200, 0x400
for flags in (SIGCHLD, 0, CLONE_PARENT | SIGCHLD, CLONE_FS | CLONE_FILES | SIGCHLD, CLONE_VFORK | SIGCHLD):
    result = syscall("clone", flags, 0, 0, 0, 0)
    if result >= 0:
        escaped(f"clone {flags:#x} was allowed")
        if result == 0:
            os._exit(0)
    print(hex(flags), "->", result)
