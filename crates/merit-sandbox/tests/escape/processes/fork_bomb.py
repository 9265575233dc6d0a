# tries: to fork without end
# contained: Processes Exception
import os
while True:
    if os.fork() == 0:
        escaped("a child runs")
