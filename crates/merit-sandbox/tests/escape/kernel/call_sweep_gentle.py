# tries: every call number that does not kill at once, with arguments from small to wild
# contained: Ok Killed Exception Time Output Memory Refused
# limits: seconds=4
import os, random
ending = {15, 34, 60, 231, 130, 61, 247, 7, 23, 232, 270, 271, 281, 441, 202, 449, 35, 230, 3, 11, 32, 33, 436, 292, 10, 12,
          9, 13, 14, 25, 28, 131, 158, 218, 273, 334}
deadly = {101, 310, 311, 440, 312, 438, 165, 166, 155, 161, 272, 308, 321, 298, 323, 425, 426, 427, 250, 248, 249, 175, 313, 176,
          246, 320, 304, 303, 300, 301, 179, 163, 167, 168, 169, 103, 153, 164, 227, 305, 159, 170, 171, 256, 279, 172, 173, 154, 156, 134}
deadly |= set(range(428, 434)) | {442}
dice = random.Random(13)
numbers = [n for n in range(0, 480) if n not in ending | deadly]
allowed = set()
for _ in range(6):
    dice.shuffle(numbers)
    for number in numbers:
        words = [dice.choice((0, 1, 2, 3, -1, -100, 4096, 1 << 31, 1 << 40, dice.getrandbits(63))) for _ in range(6)]
        if syscall(number, *words) >= 0:
            allowed.add(number)
print("allowed with some arguments:", sorted(allowed))
if attempt("fork", os.fork) == 0:
    escaped("forked after the sweep")
