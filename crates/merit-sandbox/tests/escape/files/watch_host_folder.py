# tries: to be told when anybody on the host reads the library
# contained: Ok
import fcntl, os
fd = os.open(os.path.dirname(os.__file__), os.O_RDONLY)
attempt("directory notices", lambda: (fcntl.fcntl(fd, fcntl.F_NOTIFY, fcntl.DN_ACCESS | fcntl.DN_MODIFY | fcntl.DN_MULTISHOT), escaped("watching")))
attempt("lease", lambda: (fcntl.fcntl(os.open(os.__file__, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK), escaped("a lease on a host file")))
result = syscall("inotify_init1", 0)
print("inotify ->", result)
if result >= 0:
    escaped("inotify was allowed")
