# tries: to use up the directory by hard and symbolic links
# contained: Ok Exception Memory Time
# limits: seconds=4
import os
open("one", "w").close()
made = 0
try:
    for index in range(1_000_000):
        os.link("one", f"hard{index}")
        os.symlink("x" * 4000, f"soft{index}")
        made += 1
except OSError as error:
    print("stopped after", made, error)
else:
    escaped("two million links")
