# tries: a hook on everything the harness does afterwards
# contained: Ok Exception Killed
import sys
def hook(event, arguments):
    raise RuntimeError("no " + event)
sys.addaudithook(hook)
