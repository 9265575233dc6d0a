# tries: a child with a terminal of its own
# contained: Ok Processes
import os, pty
attempt("forkpty", lambda: escaped(os.forkpty()))
attempt("pty.fork", lambda: escaped(pty.fork()))
attempt("openpty", lambda: os.openpty())
