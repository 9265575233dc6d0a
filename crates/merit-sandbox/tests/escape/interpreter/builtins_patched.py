# tries: to replace the functions a harness would use
# contained: Exception Killed
# never-value: forged-value
import builtins
real = {name: getattr(builtins, name) for name in dir(builtins)}
def lie(*_, **__):
    return "forged-" + "value"
for name in ("print", "repr", "str", "len", "isinstance", "type", "exec", "eval", "compile", "open", "getattr", "min", "max", "format", "hasattr"):
    if name not in ("type", "str"):
        setattr(builtins, name, lie)
raise ValueError("the truth")
