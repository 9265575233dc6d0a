# tries: to kill its process group and its parent's
# contained: Ok Killed
import os
attempt("parent's group", lambda: os.killpg(os.getpgid(os.getppid()), 9))
attempt("own group", lambda: os.killpg(0, 9))
