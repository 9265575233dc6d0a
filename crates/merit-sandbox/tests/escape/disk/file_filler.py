# tries: to fill the disk with one file
# contained: Exception Memory Killed Output
with open("filler", "wb") as file:
    for _ in range(1 << 14):
        file.write(b"x" * (1 << 20))
escaped("16 GiB written")
