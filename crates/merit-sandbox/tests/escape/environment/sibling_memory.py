# tries: to read other processes' memory by the process folder
# contained: Ok
import os
for pid in ["1", str(os.getppid()), "{{VICTIM}}", "{{TEST_PID}}"] + [str(n) for n in range(2, 200)]:
    if pid == str(os.getpid()):
        continue
    for name in ("mem", "maps", "pagemap", "syscall"):
        try:
            open(f"/proc/{pid}/{name}", "rb").close()
            escaped(f"opened {name} of {pid}")
        except OSError:
            pass
