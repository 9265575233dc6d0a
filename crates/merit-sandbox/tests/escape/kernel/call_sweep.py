# tries: every call number in a shuffled order with harmless and wild arguments
# contained: Ok Killed Refused Exception Time Output Memory
# limits: seconds=3
import random
# exit, exit_group, pause, rt_sigreturn, sigsuspend and the like would only end or stop this program.
skip = {15, 34, 60, 231, 130, 61, 247, 7, 23, 232, 270, 271, 281, 441, 202, 449, 35, 230}
numbers = [n for n in range(0, 470) if n not in skip]
random.Random(11).shuffle(numbers)
for number in numbers:
    result = syscall(number, -1, 0, 0, 0, 0, 0)
print("swept")
import os
if attempt("fork", os.fork) == 0:
    escaped("forked after the sweep")
