# tries: to hang in the hooks that report an exception
# contained: Exception Time
# limits: seconds=1
import sys, threading, traceback
def stay(*_, **__):
    while True:
        pass
sys.excepthook = sys.unraisablehook = threading.excepthook = stay
traceback.format_exception = traceback.print_exception = traceback.format_exc = stay
raise ValueError("slow")
