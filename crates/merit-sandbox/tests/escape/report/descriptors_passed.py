# tries: to hand hundreds of descriptors to whoever reads its report
# contained: Ok Exception Killed
import array, os, socket
held = [os.open("/dev/null", os.O_RDONLY) for _ in range(20)]
for fd in (1, 2, 3, 4):
    try:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=os.dup(fd))
        for _ in range(50):
            line.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", held))])
    except OSError as error:
        print(fd, error)
