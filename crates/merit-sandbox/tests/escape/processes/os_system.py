# tries: os.system and os.popen
# contained: Ok Processes
import os
status = attempt("system", lambda: os.system("echo ESC''APED by system"))
attempt("popen", lambda: os.popen("echo ESC''APED by popen").read())
if status == 0:
    escaped("system returned 0")
