# tries: to leave marks at the top of the tree and in shared folders, for the next call to find
# contained: Ok
import os
for folder in ("/", "/dev", "/run", "/var", "/var/tmp", "/etc", "/opt", "/usr", "/bin", "/home", "/root", "/mnt", "/proc", "/sys"):
    def mark():
        with open(os.path.join(folder, "merit-mark"), "w") as file:
            file.write("here")
    attempt(folder, mark)
for folder in ("/tmp", ".", os.path.expanduser("~")):
    attempt(folder, lambda: open(os.path.join(folder, "merit-mark"), "w").close())
