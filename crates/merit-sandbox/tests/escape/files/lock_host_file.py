# tries: to lock files of the host, which other calls and other programs would wait for
# contained: Ok
import fcntl, os
for path in (os.__file__, os.path.dirname(os.__file__), "/dev/null", "/dev/urandom"):
    def lock():
        fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
        escaped("locked " + path)
    attempt(path, lock)
