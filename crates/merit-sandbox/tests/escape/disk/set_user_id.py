# tries: a program file with the set-user-id bit, owned by root
# contained: Ok
import os
open("sh", "w").close()
attempt("chmod", lambda: os.chmod("sh", 0o6755))
attempt("chown", lambda: os.chown("sh", 0, 0))
attempt("capability", lambda: (os.setxattr("sh", "security.capability", b"\1\0\0\2\xff\xff\xff\xff" + bytes(12)), escaped("file capability set")))
attempt("trusted", lambda: (os.setxattr("sh", "trusted.merit", b"1"), escaped("trusted attribute set")))
