# tries: to change the harness in place through its own memory file
# contained: Ok Killed Exception
def write():
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        memory.seek(id(None))
        head = memory.read(16)
        memory.seek(id(None))
        memory.write(head)
    return head
attempt("mem", write)
