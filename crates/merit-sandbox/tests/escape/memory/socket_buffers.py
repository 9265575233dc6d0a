# tries: kernel memory held in full socket pairs
# contained: Ok Exception Memory
import socket
held, kept = 0, []
try:
    for _ in range(5000):
        pair = socket.socketpair()
        kept.append(pair)
        pair[0].setblocking(False)
        try:
            pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
        except OSError:
            pass
        try:
            while True:
                held += pair[0].send(b"x" * 65536)
        except BlockingIOError:
            pass
except OSError as error:
    print(error)
print("held", held)
if held > 1 << 30:
    escaped("a GiB held in sockets")
