# tries: exceptions that cannot be turned into text
# contained: Exception
class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no text")
    __repr__ = __str__
raise Mute
