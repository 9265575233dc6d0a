# tries: the same file through the roots and folders of every other process
# contained: Ok
# bare: canary-file
import os
pids = ["1", str(os.getppid()), "{{VICTIM}}", "{{TEST_PID}}"] + [str(n) for n in range(2, 400)]
for pid in pids:
    for link in ("root", "cwd"):
        try:
            print(open(f"/proc/{pid}/{link}{{CANARY_FILE}}").read())
            escaped(f"by way of process {pid}")
        except OSError:
            pass
