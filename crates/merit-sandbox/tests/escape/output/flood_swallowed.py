# tries: to flood and swallow whatever is raised
# contained: Output Time
# limits: seconds=2
import os
while True:
    try:
        print("x" * 10000)
        os.write(2, b"y" * 10000)
    except BaseException:
        pass
