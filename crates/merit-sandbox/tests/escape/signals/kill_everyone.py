# tries: kill -1
# contained: Ok Killed
import os
attempt("all", lambda: os.kill(-1, 9))
attempt("all term", lambda: os.kill(-1, 15))
