# tries: to see the host's interfaces
# contained: Ok
import socket
names = attempt("interfaces", socket.if_nameindex) or []
try:
    print(open("/proc/net/dev").read())
    print(open("/proc/net/tcp").read())
    seen = open("/proc/net/dev").read()
    if "eth" in seen or "ens" in seen:
        escaped("the host's interfaces are seen")
except OSError as error:
    print(error)
if [name for _, name in names if name != "lo"]:
    escaped(names)
