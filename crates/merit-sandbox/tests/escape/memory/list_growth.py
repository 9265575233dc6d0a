# tries: a list that grows without end
# contained: Memory
held = []
while True:
    held.append([0] * 100000)
