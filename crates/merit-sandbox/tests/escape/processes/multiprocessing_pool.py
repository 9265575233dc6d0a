# tries: a pool of worker processes by each start method
# contained: Ok Processes Time
import multiprocessing
for method in ("fork", "spawn", "forkserver"):
    def start():
        process = multiprocessing.get_context(method).Process(target=escaped, args=("a worker runs",))
        process.start()
        escaped(f"{method} started {process.pid}")
    attempt(method, start)
