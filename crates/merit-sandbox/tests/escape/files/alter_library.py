# tries: to change, cut, rename, remove or re-date library files that exist
# contained: Ok
import json, os, shutil
path = json.__file__
def opened(mode):
    open(path, mode).close()
    escaped("opened for " + mode)
attempt("append", lambda: opened("ab"))
attempt("update", lambda: opened("r+b"))
attempt("truncate", lambda: (os.truncate(path, 0), escaped("truncated")))
attempt("unlink", lambda: (os.unlink(path), escaped("unlinked")))
attempt("rename", lambda: (os.rename(os.path.dirname(path), os.path.dirname(path) + "2"), escaped("renamed")))
attempt("replace", lambda: (open("x", "w").close(), os.replace("x", path), escaped("replaced")))
attempt("chmod", lambda: (os.chmod(path, 0o777), escaped("mode changed")))
attempt("utime", lambda: (os.utime(path), escaped("re-dated")))
attempt("xattr", lambda: (os.setxattr(path, "user.x", b"1"), escaped("attribute set")))
