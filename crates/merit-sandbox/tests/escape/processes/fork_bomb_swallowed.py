# tries: to fork a thousand times, passing over every error
# contained: Ok Processes
import os
born = 0
for _ in range(1000):
    try:
        if os.fork() == 0:
            escaped("a child runs")
            os._exit(0)
        born += 1
    except OSError as error:
        last = error
print("children:", born, "last error:", last)
