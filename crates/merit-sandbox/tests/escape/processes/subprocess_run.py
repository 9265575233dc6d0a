# tries: subprocess with and without a shell
# contained: Ok Processes
import subprocess, sys
attempt("run", lambda: escaped(subprocess.run(["/bin/echo", "x"], capture_output=True)))
attempt("shell", lambda: escaped(subprocess.check_output("echo x", shell=True)))
attempt("python", lambda: escaped(subprocess.run([sys.executable or "python3", "-c", "1"], check=True)))
