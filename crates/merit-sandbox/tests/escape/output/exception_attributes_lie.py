# tries: an exception whose class, module, cause and error number are traps
# contained: Exception Killed
class Trap(str):
    def __str__(self):
        raise SystemExit(0)
    __repr__ = __format__ = __eq__ = __str__
    __hash__ = str.__hash__
class Lying(OSError):
    __module__ = Trap("x")
    errno = property(lambda self: 1 / 0)
    __cause__ = property(lambda self: 1 / 0)
raise Lying
