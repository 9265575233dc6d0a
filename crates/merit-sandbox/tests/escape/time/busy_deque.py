# tries: an endless iterator drained inside C without any memory
# contained: Time
# limits: seconds=0.5
import collections, itertools
collections.deque(itertools.repeat(0), maxlen=0)
