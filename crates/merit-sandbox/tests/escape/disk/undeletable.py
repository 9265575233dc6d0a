# tries: folders without permissions and immutable files, so that cleaning up fails
# contained: Ok
import fcntl, os, struct
os.mkdir("closed")
open("closed/file", "w").close()
os.chmod("closed", 0)
fd = os.open("fixed", os.O_CREAT | os.O_RDWR)
attempt("immutable", lambda: fcntl.ioctl(fd, 0x40086602, struct.pack("l", 0x10)))
attempt("append only", lambda: fcntl.ioctl(fd, 0x40086602, struct.pack("l", 0x20)))
attempt("chmod", lambda: os.chmod(".", 0))
