# tries: to come back to life in finalizers and weak references
# contained: Ok
import weakref, gc
class Undead:
    def __del__(self):
        global again
        again = self
for _ in range(1000):
    Undead()
weakref.finalize(Undead(), print, "finalized")
gc.collect()
