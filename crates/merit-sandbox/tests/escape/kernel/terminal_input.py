# tries: to type commands into the terminal it came from
# contained: Ok Refused
import fcntl, termios
for fd in range(0, 64):
    for request in (termios.TIOCSTI, termios.TIOCSCTTY, 0x541C, termios.TIOCLINUX if hasattr(termios, "TIOCLINUX") else 0x541C):
        try:
            fcntl.ioctl(fd, request, b"#")
            escaped(f"request {request:#x} on {fd}")
        except OSError:
            pass
refused("vhangup", "vhangup")
