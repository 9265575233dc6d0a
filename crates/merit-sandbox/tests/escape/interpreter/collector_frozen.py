# tries: to freeze and disable the collector and to pile up garbage
# contained: Ok Memory
import gc
gc.freeze()
gc.disable()
for _ in range(100000):
    loop = []
    loop.append(loop)
print("done")
