# tries: to spend its time in the compiler, before any line runs
# contained: Time Memory Exception
# limits: seconds=1
source = "\n".join(f"x{i} = [" + "1," * 5000 + "]" for i in range(5000))
compile(source, "bomb", "exec")
while True:
    pass
