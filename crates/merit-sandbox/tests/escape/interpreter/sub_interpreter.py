# tries: a fresh interpreter inside the process, without patches or hooks
# contained: Ok Exception Killed
def inner():
    import _xxsubinterpreters as inner_world
    made = inner_world.create()
    inner_world.run_string(made, "import os\ntry:\n    os.fork()\n    print('ESC' + 'APED by a sub-interpreter')\nexcept (OSError, RuntimeError) as error:\n    print(error)\n")
attempt("inner", inner)
