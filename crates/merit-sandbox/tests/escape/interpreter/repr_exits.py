# tries: a result whose repr leaves, forks and patches
# contained: Ok Exception Killed
# never-value: forged-value
class Leaving:
    def __repr__(self):
        import os
        os._exit(0)
Leaving()
