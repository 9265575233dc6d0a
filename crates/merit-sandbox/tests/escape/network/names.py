# tries: to resolve names, which talks to servers
# contained: Ok
import socket
for name in ("example.com", "localhost", "metadata.google.internal"):
    result = attempt(name, lambda: socket.getaddrinfo(name, 80))
    if result and name == "example.com":
        escaped("a name was resolved")
