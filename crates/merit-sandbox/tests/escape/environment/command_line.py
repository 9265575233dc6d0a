# tries: to learn the host's paths from arguments, modules and code objects
# contained: Ok
import sys
print(sys.argv, sys.orig_argv, sys.executable, sys.flags)
# The interpreter's own folders must be readable, wherever the host keeps them; nothing else has to be known.
own = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix} | {path for path in sys.path if "python3" in path}
paths = [str(getattr(module, "__file__", "") or "") for module in list(sys.modules.values())] + sys.orig_argv + sys.argv
others = [path for path in paths if not path.startswith(tuple(own))]
for hint in ("{{TEMP}}", "/work/", "/target/", "/root/", "/home/"):
    for path in others:
        if hint in path:
            escaped("a path of the host is seen: " + path[:200])
