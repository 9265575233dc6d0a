# tries: posix_spawn and posix_spawnp
# contained: Ok Processes
import os, sys
attempt("spawn", lambda: escaped(os.posix_spawn("/bin/sh", ["sh", "-c", "true"], {})))
attempt("spawnp", lambda: escaped(os.posix_spawnp("python3", ["python3", "-c", "1"], {})))
attempt("spawnv", lambda: escaped(os.spawnv(os.P_NOWAIT, "/bin/sh", ["sh", "-c", "true"])))
