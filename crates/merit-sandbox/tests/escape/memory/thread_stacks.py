# tries: memory by enormous thread stacks
# contained: Ok Exception Memory Processes
import threading, time
threading.stack_size(1 << 30)
try:
    for _ in range(64):
        threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
except RuntimeError as error:
    print(error)
else:
    escaped("64 GiB of stacks")
