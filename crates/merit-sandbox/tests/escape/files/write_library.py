# tries: to write into the interpreter's folders
# contained: Ok
import os, site, sys, sysconfig
folders = {os.path.dirname(os.__file__), sys.prefix, sys.exec_prefix, "/usr/lib/python3/dist-packages", "/usr/local/lib", "/usr/bin", "/usr/lib"}
folders |= {path for path in sys.path if path} | set(sysconfig.get_paths().values()) | set(site.getsitepackages())
for folder in sorted(folders):
    if not os.path.isdir(folder) or os.path.realpath(folder).startswith(os.path.realpath(os.getcwd())):
        continue
    def poison():
        with open(os.path.join(folder, "merit_poison.py"), "w") as file:
            file.write("raise SystemExit('poisoned')")
        escaped("wrote into " + folder)
    attempt(folder, poison)
