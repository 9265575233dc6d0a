# tries: signals and descriptors through process descriptors
# contained: Ok Refused
import os
for pid in (1, os.getppid(), int("{{VICTIM}}"), int("{{TEST_PID}}")):
    if pid in (0, os.getpid()):
        continue
    fd = syscall("pidfd_open", pid, 0)
    print(pid, "->", fd)
    if fd >= 0:
        escaped(f"a descriptor of process {pid}")
        print(syscall("pidfd_send_signal", fd, 9, 0, 0), syscall("pidfd_getfd", fd, 0, 0))
