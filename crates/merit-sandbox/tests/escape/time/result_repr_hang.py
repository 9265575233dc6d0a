# tries: a result whose repr never returns
# contained: Ok Time
# limits: seconds=1
class Slow:
    def __repr__(self):
        while True:
            pass
    __str__ = __repr__
Slow()
