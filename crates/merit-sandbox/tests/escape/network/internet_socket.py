# tries: sockets to the internet, old and new
# contained: Ok
import socket
for family in (socket.AF_INET, socket.AF_INET6):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        def make():
            made = socket.socket(family, kind)
            made.settimeout(1)
            made.connect(("127.0.0.1" if family == socket.AF_INET else "::1", int("{{PORT}}")))
            escaped("connected")
        attempt(f"{family} {kind}", make)
