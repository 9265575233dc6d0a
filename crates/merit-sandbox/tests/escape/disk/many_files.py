# tries: to use up the inodes
# contained: Ok Exception Memory Time
# limits: seconds=4
import os
made = 0
try:
    for index in range(2_000_000):
        os.close(os.open(f"n{index}", os.O_CREAT | os.O_WRONLY))
        made += 1
except OSError as error:
    print("stopped after", made, error)
else:
    escaped("two million files")
