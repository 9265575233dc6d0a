# tries: to leave flags, an owner and a signal on the input descriptor that later calls may share
# contained: Ok
import fcntl, os, signal
attempt("flags", lambda: fcntl.fcntl(0, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK))
attempt("owner", lambda: fcntl.fcntl(0, fcntl.F_SETOWN, 1))
attempt("signal", lambda: fcntl.fcntl(0, 10, signal.SIGKILL))
attempt("lock", lambda: fcntl.flock(0, fcntl.LOCK_EX))
attempt("offset", lambda: os.lseek(0, 4096, 0))
