# tries: to leave poisoned bytecode where later calls import it
# contained: Ok
import importlib.util, json, marshal, os, struct
target = importlib.util.cache_from_source(json.__file__)
code = marshal.dumps(compile("poisoned = True", json.__file__, "exec"))
status = os.stat(json.__file__)
header = importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF)
def poison():
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        file.write(header + code)
    escaped("bytecode written to " + target)
attempt("pyc", poison)
import sys
sys.dont_write_bytecode = False
sys.pycache_prefix = "/"
attempt("prefix", lambda: __import__("colorsys").__cached__)
