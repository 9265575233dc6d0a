# tries: names at and past the limits
# contained: Ok
for length in (254, 255, 256, 4095, 4096, 1 << 20):
    attempt(length, lambda: open("n" * length, "w").close())
