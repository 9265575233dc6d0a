# tries: an endless sum inside C
# contained: Time
# limits: seconds=0.5
import itertools
sum(itertools.count())
