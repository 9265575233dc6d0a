# tries: bytecode that no compiler writes
# contained: Killed Exception Time Memory
# limits: seconds=2
def victim():
    return 1
code = victim.__code__
for fill in (b"\x64\xff" * 10, b"\x01\x00" * 20, bytes(range(0, 240)), b"\xff" * 50):
    try:
        exec(code.replace(co_code=fill, co_stacksize=1))
    except Exception as error:
        print(error)
raise ValueError("still alive")
