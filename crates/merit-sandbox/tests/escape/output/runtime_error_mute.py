# tries: an exception of a kind the harness looks into, whose text raises
# contained: Exception
class Mute(RuntimeError):
    def __str__(self):
        raise KeyboardInterrupt
raise Mute
