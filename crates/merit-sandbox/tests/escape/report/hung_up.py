# tries: to shut its line down in both directions and go on
# contained: Killed Time Ok
# limits: seconds=1
import socket, time
line = socket.socket(fileno=4)
line.shutdown(socket.SHUT_RDWR)
time.sleep(100)
