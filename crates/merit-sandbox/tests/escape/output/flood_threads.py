# tries: to flood from eight threads
# contained: Output
import threading
def flood():
    while True:
        print("x" * 1000)
threads = [threading.Thread(target=flood, daemon=True) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
