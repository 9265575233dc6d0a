# tries: an integer made by one shift
# contained: Memory
n = 1 << (1 << 36)
escaped("eight GiB in one number")
