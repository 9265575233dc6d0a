# tries: an exit status that claims to equal anything
# contained: Exception Killed Ok
class Anything:
    def __eq__(self, other):
        import os
        os._exit(0)
    __hash__ = None
raise SystemExit(Anything())
