# tries: to reach a server on the host's loopback
# contained: Ok
# bare: canary-network
import socket
for host in ("127.0.0.1", "localhost", "0.0.0.0", "::1", "::ffff:127.0.0.1", "{{HOSTNAME}}"):
    def greet():
        with socket.create_connection((host, int("{{PORT}}")), timeout=2) as peer:
            print(peer.recv(200))
    attempt(host, greet)
