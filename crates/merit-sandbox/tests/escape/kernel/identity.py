# tries: to become another user or root
# contained: Ok Refused
import os
for uid in (0, 1, 1000, 65534):
    attempt(f"setuid {uid}", lambda: os.setuid(uid))
    attempt(f"setresuid {uid}", lambda: os.setresuid(uid, uid, uid))
    attempt(f"setgid {uid}", lambda: os.setgid(uid))
attempt("setgroups", lambda: (os.setgroups([0, 6, 27]), escaped("groups changed")))
print(os.getresuid(), os.getresgid(), os.getgroups())
