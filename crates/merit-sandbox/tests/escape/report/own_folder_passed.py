# tries: to hand its folder and a half-open socket to itself, so that the kernel keeps them in flight
# contained: Ok Exception Killed Refused
import array, os, socket
left, right = socket.socketpair()
held = [os.open(".", os.O_RDONLY), left.fileno(), right.fileno()]
for _ in range(10):
    left.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", held))])
