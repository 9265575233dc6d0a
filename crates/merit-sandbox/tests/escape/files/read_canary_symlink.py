# tries: the same file through a link made here
# contained: Ok
# bare: canary-file
import os
os.mkdir("links")
os.chdir("links")
os.symlink("{{CANARY_FILE}}", "link")
attempt("file", lambda: print(open("link").read()))
os.symlink("/", "root")
attempt("root", lambda: print(open("root{{CANARY_FILE}}").read()))
os.symlink("../../../../../../../../..", "up")
attempt("up", lambda: print(open("up{{CANARY_FILE}}").read()))
