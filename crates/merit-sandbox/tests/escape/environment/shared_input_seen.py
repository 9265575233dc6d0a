# tries: to see what another call did to the descriptors it was given
# contained: Ok
import fcntl, os
for fd in (0, 1, 2):
    flags, owner = fcntl.fcntl(fd, fcntl.F_GETFL), fcntl.fcntl(fd, fcntl.F_GETOWN)
    print(fd, oct(flags), owner, fcntl.fcntl(fd, 11))
    if flags & (os.O_APPEND | os.O_NONBLOCK) or owner or fcntl.fcntl(fd, 11):
        escaped(f"another call's marks on descriptor {fd}")
