# tries: to step through the harness once its own code is done
# contained: Exception Killed
# never-value: forged-value
import sys
def trace(frame, event, argument):
    for name, thing in list(frame.f_locals.items()):
        if isinstance(thing, dict) and thing is not globals():
            thing["verdict"] = "ok"
            thing["value"] = "forged" + "-value"
    return trace
sys.settrace(trace)
sys.setprofile(trace)
frame = sys._getframe()
while frame:
    frame.f_trace = trace
    frame = frame.f_back
raise ValueError("the truth")
