# tries: to reach the fork server's channel, children and fences through the modules and frames it was forked with
# contained: Ok Exception Killed
import gc, sys
frame = sys._getframe()
while frame.f_back is not None:
    frame = frame.f_back
print(sorted(name for name in frame.f_globals)[:80])
for thing in gc.get_objects():
    kind = type(thing).__name__
    if kind in ("Server", "Channel", "Fences"):
        print(kind, sorted(getattr(thing, "__dict__", {})))
        channel = getattr(thing, "channel", thing)
        if hasattr(channel, "send"):
            attempt("send", lambda: channel.send({"ready": True}))
        if hasattr(channel, "receive"):
            attempt("receive", lambda: print(channel.receive()))
