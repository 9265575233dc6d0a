# tries: an integer that does not fit
# contained: Memory Time
# limits: seconds=2
n = 10 ** (10 ** 10)
escaped("ten to the ten to the ten")
