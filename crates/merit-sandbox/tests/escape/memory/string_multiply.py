# tries: strings by multiplication
# contained: Memory
parts = ["x" * (1 << 28) for _ in range(64)]
escaped(len(parts))
