# tries: a socket of the host by its abstract name, which no file tree hides
# contained: Ok
# bare: canary-unix
import socket
def greet():
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(2)
        peer.connect("\0{{ABSTRACT}}")
        print(peer.recv(200))
attempt("abstract", greet)
