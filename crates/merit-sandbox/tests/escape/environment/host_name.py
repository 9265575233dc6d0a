# tries: to learn and change the host's name
# contained: Ok Refused
import os, socket
print(os.uname().release)
if attempt("name", socket.gethostname) == "{{HOSTNAME}}":
    escaped("the host's name is seen")
refused("sethostname", "sethostname", b"poison", 6)
refused("setdomainname", "setdomainname", b"poison", 6)
