# tries: a tree too deep to remove by name
# contained: Ok Exception Memory
import os
depth = 0
try:
    while depth < 2000:
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
        depth += 1
except OSError as error:
    print(error)
open("bottom", "w").close()
print("depth", depth)
