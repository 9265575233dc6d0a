# tries: to reopen what other processes have open
# contained: Ok
# bare: canary-descriptor
import os
for pid in ["1", str(os.getppid()), "{{VICTIM}}", "{{TEST_PID}}"] + [str(n) for n in range(2, 200)]:
    for fd in range(3, 64 if len(pid) < 3 else 300):
        try:
            with open(f"/proc/{pid}/fd/{fd}", "rb", buffering=0) as file:
                if os.fstat(file.fileno()).st_mode & 0o170000 == 0o100000:
                    print(pid, fd, file.read(200))
                    if pid != str(os.getpid()):
                        escaped(f"descriptor {fd} of process {pid}")
        except OSError:
            pass
