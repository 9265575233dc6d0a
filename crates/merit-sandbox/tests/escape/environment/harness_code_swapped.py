# tries: to find every function of the harness by the collector and swap its code
# contained: Exception Killed Time
# never-value: forged-value
import gc, types
def forged(*_, **__):
    return "forged-" + "value"
swapped = 0
for thing in gc.get_objects():
    if isinstance(thing, types.FunctionType) and thing is not forged and not thing.__code__.co_freevars:
        source = thing.__code__.co_filename
        if "/lib/python" not in source and not source.startswith("<frozen") and thing.__globals__ is not globals():
            thing.__code__ = forged.__code__
            swapped += 1
raise ValueError("the truth")
