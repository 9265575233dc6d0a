# tries: to let a secret out by a single datagram
# contained: Ok
import socket
def send():
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.sendto(b"secret", ("127.0.0.1", int("{{PORT}}")))
    escaped("a datagram left")
attempt("udp", send)
