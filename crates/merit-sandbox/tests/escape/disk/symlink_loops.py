# tries: loops of links, for whoever walks the folder afterwards
# contained: Ok
import os
os.symlink("loop", "loop")
os.symlink("b", "a")
os.symlink("a", "b")
os.symlink(".", "self")
os.symlink("..", "up")
os.symlink("/", "root")
attempt("open loop", lambda: open("loop").read())
attempt("open chain", lambda: open("self/" * 50 + "loop").read())
