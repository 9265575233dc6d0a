# tries: to patch builtin types through the collector
# contained: Ok Exception Killed
import gc
for kind in (str, int, list, dict):
    table = gc.get_referents(kind.__dict__)[0]
    table["__eq__"] = lambda *_: True
    table["append_poison"] = 1
import ctypes
ctypes.pythonapi.PyType_Modified(ctypes.py_object(str))
print("x" == "y")
