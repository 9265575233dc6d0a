# tries: an abstract name by a pair's half, unconnected and with a path
# contained: Ok
import socket
def send(peer):
    peer.connect("\0{{ABSTRACT}}")
    escaped("connected by a pair's half")
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    pair = attempt("pair", lambda: socket.socketpair(socket.AF_UNIX, kind))
    if pair:
        attempt("connect", lambda: send(pair[0]))
        attempt("sendto", lambda: (pair[0].sendto(b"x", "\0{{ABSTRACT}}"), escaped("sent")) if kind == socket.SOCK_DGRAM else None)
