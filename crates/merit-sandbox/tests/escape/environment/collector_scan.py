# tries: to find another call's text among the objects left from before
# contained: Ok
import gc, sys
mark = "CROSS" + "-CALL-"
seen = set()
work = gc.get_objects() + [sys.modules, sys._getframe().f_back]
while work and len(seen) < 300000:
    thing = work.pop()
    if id(thing) in seen:
        continue
    seen.add(id(thing))
    if isinstance(thing, str) and mark in thing:
        print(thing[:200])
    elif isinstance(thing, (bytes, bytearray)) and mark.encode() in thing:
        print(bytes(thing[:200]))
    elif len(work) < 300000:
        work.extend(gc.get_referents(thing))
