# tries: to leave lies in the module table
# contained: Ok Exception Killed
import sys, types
for name in ("json", "os", "sys", "math", "re", "signal", "traceback", "builtins", "socket", "time"):
    sys.modules[name] = types.ModuleType(name)
import math
print(hasattr(math, "sqrt"))
