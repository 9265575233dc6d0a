# tries: to remove or rename the folder it stands in
# contained: Ok Exception
import os
here = os.getcwd()
print(here)
attempt("rename", lambda: os.rename(here, here + "-gone"))
attempt("rmdir", lambda: os.rmdir(here))
attempt("rmtree", lambda: __import__("shutil").rmtree(here))
attempt("getcwd", lambda: os.getcwd())
