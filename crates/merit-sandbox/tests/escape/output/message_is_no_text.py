# tries: an exception whose text is no string, and whose text exits
# contained: Exception
class Odd(Exception):
    def __str__(self):
        raise SystemExit(0)
raise Odd
