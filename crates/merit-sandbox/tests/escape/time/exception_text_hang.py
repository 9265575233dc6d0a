# tries: an exception whose text never comes
# contained: Exception Time
# limits: seconds=1
class Slow(Exception):
    def __str__(self):
        while True:
            pass
    __repr__ = __str__
raise Slow
