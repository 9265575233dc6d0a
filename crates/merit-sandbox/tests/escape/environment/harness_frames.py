# tries: to reach the harness through the frames above it and to change its variables and functions
# contained: Exception Killed
# never-value: forged-value
import sys, types
forge = lambda *_, **__: {"verdict": "ok", "value": "forged" + "-value"}
frame = sys._getframe()
depth = 0
while frame is not None:
    print(depth, frame.f_code.co_filename, frame.f_code.co_name, sorted(frame.f_locals)[:30])
    if frame.f_globals is not globals():
        for name, thing in list(frame.f_globals.items()):
            if isinstance(thing, (types.FunctionType, types.BuiltinFunctionType)):
                frame.f_globals[name] = forge
    for name, thing in list(frame.f_locals.items()):
        if isinstance(thing, dict) and thing is not globals():
            thing.update(verdict="ok", value="forged" + "-value")
    frame, depth = frame.f_back, depth + 1
raise ValueError("the truth")
