# tries: a socket of the host by its path
# contained: Ok
# bare: canary-unix
import socket
def greet():
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(2)
        peer.connect("{{UNIX_PATH}}")
        print(peer.recv(200))
attempt("path", greet)
