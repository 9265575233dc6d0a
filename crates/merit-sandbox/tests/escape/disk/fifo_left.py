# tries: pipes and sockets by name, on which a cleaner could hang
# contained: Ok
import os, socket
attempt("fifo", lambda: os.mkfifo("pipe"))
def bound():
    server = socket.socket(socket.AF_UNIX)
    server.bind("socket")
attempt("socket", bound)
attempt("device", lambda: (os.mknod("null", 0o20666, os.makedev(1, 3)), escaped("a device node")))
