# tries: a process pool executor, whose manager thread starts workers behind the back
# contained: Ok Exception Processes Time
import concurrent.futures
def work():
    import os
    return os.getpid()
with concurrent.futures.ProcessPoolExecutor(2) as pool:
    escaped(pool.submit(work).result(timeout=2))
