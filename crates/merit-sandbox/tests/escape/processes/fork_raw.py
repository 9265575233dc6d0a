# tries: the fork call itself, past the interpreter
# contained: Ok Processes
result = syscall("fork")
if result == 0:
    import os
    escaped("a child runs")
    os._exit(0)
print("fork ->", result)
