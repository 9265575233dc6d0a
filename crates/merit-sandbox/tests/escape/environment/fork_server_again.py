# tries: to become a fork server itself with the code it was forked from
# contained: Ok Exception Killed Refused
# limits: seconds=2
import sys
frame = sys._getframe()
while frame.f_back is not None:
    frame = frame.f_back
world = frame.f_globals
for name in ("unshare", "mount", "pivot_root", "setns", "build_root", "enter_user_namespace", "drop_bounding_set"):
    function = world.get(name)
    for arguments in ((), (0x20000,), (0x10000000,), ("/", "/tmp", None, 4096), ("/tmp", "/tmp"), ([],)):
        if function is not None and name != "drop_bounding_set":
            attempt(name, lambda: (function(*arguments), escaped(name + " worked")))
