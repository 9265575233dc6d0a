# tries: the first environment of every process it can name
# contained: Ok
# bare: canary-environment
import os
for pid in ["self", "1", str(os.getppid()), "{{VICTIM}}", "{{TEST_PID}}"] + [str(n) for n in range(2, 400)]:
    for name in ("environ", "cmdline", "auxv", "stack", "status"):
        try:
            text = open(f"/proc/{pid}/{name}", "rb").read()
        except OSError:
            continue
        if name in ("environ", "cmdline"):
            print(pid, name, text)
