# tries: a small result whose repr explodes
# contained: Ok Output Memory Exception Time
# limits: seconds=2
a = ["x" * 10]
for _ in range(40):
    a = [a, a]
a
