# tries: a regular expression that backtracks for ages
# contained: Time
# limits: seconds=0.5
import re
re.match(r"(a+)+$", "a" * 64 + "b")
