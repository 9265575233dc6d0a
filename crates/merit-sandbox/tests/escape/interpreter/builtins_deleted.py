# tries: to delete every builtin
# contained: Ok Exception Killed
import builtins
for name in list(vars(builtins)):
    if name not in ("delattr",):
        try:
            vars(builtins).pop(name)
        except BaseException:
            pass
