# tries: the hypervisor's side of a virtual machine
# contained: Ok
import socket
def call():
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as peer:
        peer.settimeout(1)
        peer.connect((2, 22))
        escaped("the hypervisor answers")
attempt("vsock", call)
