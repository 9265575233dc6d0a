# tries: source text that compiles for ages
# contained: Time Memory Exception
# limits: seconds=1
compile("+".join(["(1,)*2"] * 100000) + "if 1 else " * 1, "bomb", "exec")
while True:
    compile("x = " + "-" * 1000 + "1", "bomb", "exec")
