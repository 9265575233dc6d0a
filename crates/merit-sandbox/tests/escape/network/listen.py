# tries: to open a door for others
# contained: Ok
import socket
def listen(address, family):
    server = socket.socket(family)
    server.bind(address)
    server.listen()
    escaped(f"listening at {server.getsockname()}")
attempt("inet", lambda: listen(("0.0.0.0", 0), socket.AF_INET))
attempt("unix", lambda: listen("\0merit-door", socket.AF_UNIX))
