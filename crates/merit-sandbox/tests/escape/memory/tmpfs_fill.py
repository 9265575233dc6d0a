# tries: to hold memory as files in the private folder
# contained: Memory Exception
import os
for index in range(1 << 13):
    with open(f"fill{index}", "wb") as file:
        file.write(b"x" * (1 << 20))
escaped("8 GiB of files")
