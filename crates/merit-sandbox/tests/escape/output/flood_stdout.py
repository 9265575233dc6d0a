# tries: output without end
# contained: Output
while True:
    print("x" * 1000)
