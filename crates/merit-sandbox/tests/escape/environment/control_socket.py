# tries: to answer and to ask on the fork server's own sockets
# contained: Ok Exception Killed
import json, os, socket, stat
for fd in range(3, 1024):
    try:
        if not stat.S_ISSOCK(os.fstat(fd).st_mode):
            continue
    except OSError:
        continue
    print("a socket is open:", fd)
    try:
        peer = socket.socket(fileno=os.dup(fd))
        peer.setblocking(False)
        attempt("recv", lambda: print(peer.recvmsg(65536, 4096)))
        attempt("peek", lambda: print(peer.recv(65536, socket.MSG_PEEK)))
        attempt("send", lambda: peer.send(json.dumps({"run": "print(1)"}).encode()))
        attempt("shutdown", lambda: peer.shutdown(socket.SHUT_RDWR))
    except OSError as error:
        print(error)
